// The client of the Anodyne API; webhooks.ts is a second entry of the package,
// so that programs which receive no webhooks do not load it.

export { Anodyne } from './client.js';
export type { PrivateKey } from './assertion.js';
export type { AnodyneOptions, CredentialOptions, KeyOptions, Result, TokenOptions } from './client.js';
export type { Download, DownloadOptions } from './download.js';
export {
  AnodyneError, ApiError, AuthenticationError, BadRequestError, ConflictError, ConnectionError, GoneError, InvalidResponseError,
  NotFoundError, NotModifiedError, PermissionDeniedError, PreconditionFailedError, RateLimitError, ServerError, UnprocessableError,
} from './errors.js';
export type { ErrorCode } from './errors.js';
export type { EventPage } from './follow.js';
export type { List } from './paging.js';
export type { RateLimit } from './ratelimit.js';
export { ReportFailedError } from './report.js';
export type { components, paths } from './schema.js';
export type { Answer, Body, CallOptions, Endpoint, PathParameters, Query, RequestOptions, Schemas } from './types.js';

import { readRateLimit, type RateLimit } from './ratelimit.js';
import { retryAfter } from './retryafter.js';
import type { Schemas } from './types.js';

/** The codes of the service, and those that it may add within `/v1`. */
export type ErrorCode = Schemas['ErrorCode'] | (string & {});

/**
 * The base class of all errors of this library. The messages never contain request or response bodies, queries or
 * identifiers, so that they can be logged.
 */
export class AnodyneError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(`anodyne: ${message}`, options);
    this.name = new.target.name;
  }
}

/** The service could not be reached, or the connection broke. Whether it acted on the request is unknown. */
export class ConnectionError extends AnodyneError {
  constructor(
    /** The operation, such as `GET /v1/patients/{id}`. */
    readonly operation: string,
    /** Whether the attempt took longer than its timeout. */
    readonly isTimeout: boolean,
    options?: ErrorOptions,
  ) {
    super(`${operation}: ${isTimeout ? 'no response within the timeout' : 'the connection failed'}`, options);
  }
}

/** A successful response that is not what the API returns, for example from a proxy. */
export class InvalidResponseError extends AnodyneError {}

/** The part of an error response that {@link ApiError} is made of. */
export interface ErrorResponse {
  status: number;
  code: ErrorCode | undefined;
  message: string;
  details: Record<string, unknown>;
  headers: Headers;
}

/** An unsuccessful response of the service. Each subclass stands for one status. */
export class ApiError extends AnodyneError {
  readonly status: number;
  /** Undefined if the response did not come from the service, for example if a proxy sent it. */
  readonly code: ErrorCode | undefined;
  /** What the service says about the error. It may repeat values of the request, so log it with care. */
  declare readonly details: Record<string, unknown>;
  /** Identifies the request in the logs of the service. */
  readonly requestId: string | undefined;
  /** How many milliseconds the service asks you to wait before a retry. */
  readonly retryAfter: number | undefined;
  /** The allowance after this request. */
  readonly rateLimit: RateLimit | undefined;
  declare readonly headers: Headers;

  constructor({ status, code, message, details, headers }: ErrorResponse) {
    const requestId = headers.get('x-request-id') ?? undefined;
    super(`${code ? `${code}: ` : ''}${message} (status ${status}${requestId ? `, request ${requestId}` : ''})`);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfter = retryAfter(headers);
    this.rateLimit = readRateLimit(headers);
    // Not enumerable, so that loggers which print all fields of an error leave them out.
    Object.defineProperties(this, { details: { value: details }, headers: { value: headers } });
  }
}

/** 304: the record still has the `ETag` of `If-None-Match`. */
export class NotModifiedError extends ApiError {}
/** 400: a parameter or the body is invalid; `details` says where. */
export class BadRequestError extends ApiError {}
/** 401: the credentials or the token were rejected. */
export class AuthenticationError extends ApiError {}
/** 403: the token lacks a scope. */
export class PermissionDeniedError extends ApiError {}
/** 404: there is no such record. */
export class NotFoundError extends ApiError {}
/** 409: the state of the record does not allow it. */
export class ConflictError extends ApiError {}
/** 410: the record is no longer available. */
export class GoneError extends ApiError {}
/** 412: the record no longer has the `ETag` of `ifMatch`. */
export class PreconditionFailedError extends ApiError {}
/** 422: the idempotency key was used for another request. */
export class UnprocessableError extends ApiError {}
/** 429: the rate limit is used up; `retryAfter` says how long to wait. */
export class RateLimitError extends ApiError {}
/** 5xx: the service failed or is unavailable. */
export class ServerError extends ApiError {}

const classes: Record<number, typeof ApiError> = {
  304: NotModifiedError,
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: PreconditionFailedError,
  422: UnprocessableError,
  429: RateLimitError,
};

/** Reads an unsuccessful response. */
export async function readError(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const text = await response.text();
  const body = errorBody(text);
  return new (classes[status] ?? (status >= 500 ? ServerError : ApiError))({
    status,
    code: body?.code,
    // A browser hides redirects, which the API does not use.
    message: body?.message || response.statusText || (status === 0 ? 'unexpected redirect' : 'unexpected response'),
    details: body?.details ?? {},
    headers,
  });
}

function errorBody(text: string): { code: ErrorCode; message: string; details?: Record<string, unknown> } | undefined {
  try {
    const { error } = JSON.parse(text);
    return typeof error?.code === 'string' && typeof error.message === 'string' ? error : undefined;
  } catch {
    return undefined; // not an answer of the service
  }
}

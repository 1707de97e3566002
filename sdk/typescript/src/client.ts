import { Signer, type PrivateKey } from './assertion.js';
import { download } from './download.js';
import { AnodyneError } from './errors.js';
import { follow, type EventPage } from './follow.js';
import { bind, type Groups } from './methods.js';
import { operations } from './operations.js';
import type { RateLimit } from './ratelimit.js';
import type { Call } from './request.js';
import { waitForReport } from './report.js';
import { Tokens, type IssuedToken } from './token.js';
import { readBody, Transport } from './transport.js';
import type { Answer, CallOptions, DownloadEndpoint, Endpoint, RequestOptions, Schemas } from './types.js';

const defaultMaxRetries = 3;

/** Longer than the longest wait of `GET /v1/events`, 30 seconds. */
const defaultTimeout = 60_000;

interface CommonOptions {
  /** The address of the service, such as `https://anodyne.example.org`. */
  baseUrl: string;
  /** How often a failed call is retried; 3 by default. */
  maxRetries?: number | undefined;
  /** Milliseconds that one attempt of a call may take; a minute by default. */
  timeout?: number | undefined;
  /** Replaces the global `fetch`, for example to use a proxy. */
  fetch?: typeof fetch | undefined;
}

/** Options with the credentials of an application, for programs on a server. */
export interface CredentialOptions extends CommonOptions {
  clientId: string;
  clientSecret: string;
  /** Requests tokens with these scopes only; by default with all that the application has. */
  scopes?: readonly string[] | undefined;
  token?: undefined;
  keyId?: undefined;
  privateKey?: undefined;
}

/** Options with a private key instead of a secret (`private_key_jwt`, as in SMART Backend Services), for programs on a server. */
export interface KeyOptions extends CommonOptions {
  clientId: string;
  /** The `kid` with which the public key is registered. */
  keyId: string;
  privateKey: PrivateKey;
  /** Requests tokens with these scopes only; by default with all that the application has. */
  scopes?: readonly string[] | undefined;
  clientSecret?: undefined;
  token?: undefined;
}

/** Options with an access token, for browsers and for programs that get their tokens elsewhere. */
export interface TokenOptions extends CommonOptions {
  /**
   * An access token, or a function that returns one. The function is called when a token is first needed, and again
   * when the service rejects that one as expired, revoked or invalid.
   */
  token: string | (() => string | Promise<string>);
  clientId?: undefined;
  clientSecret?: undefined;
  keyId?: undefined;
  privateKey?: undefined;
}

export type AnodyneOptions = CredentialOptions | KeyOptions | TokenOptions;

/** A successful response with its headers. */
export interface Result<T> {
  data: T;
  status: number;
  headers: Headers;
  /** Pass it as `ifMatch` to change the record only if nobody else has. */
  etag: string | undefined;
  /** Identifies the request in the logs of the service. */
  requestId: string | undefined;
}

/** A client of the service. Create one and keep it: it holds the access token. */
export class Anodyne {
  readonly #transport: Transport;

  constructor(options: AnodyneOptions) {
    const base = checkBase(options.baseUrl);
    const tokens = new Tokens(() => this.#issue(options), typeof options.token === 'string');
    this.#transport = new Transport(
      {
        base,
        credentials: credentialsOf(options, base),
        // Browsers insist that fetch is called on the global object.
        fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
        // A browser sends its own; another would need permission from the service.
        userAgent: isNode() ? 'anodyne-typescript-client' : undefined,
        timeout: options.timeout ?? defaultTimeout,
        maxRetries: options.maxRetries ?? defaultMaxRetries,
      },
      tokens,
    );
    Object.assign(
      this,
      bind(operations, {
        call: async (call) => (await this.#perform(call)).data,
        open: (call, position) => download(this.#transport, call, position),
      }),
    );
  }

  /** The allowance according to the last response; undefined before the first. */
  get rateLimit(): RateLimit | undefined {
    return this.#transport.rateLimit;
  }

  /**
   * Performs any operation and returns its result with the headers:
   * `request('GET /v1/patients/{id}', { path: { id } })`.
   */
  request<E extends Exclude<Endpoint, DownloadEndpoint>>(
    endpoint: E,
    ...[options]: {} extends RequestOptions<E> ? [options?: RequestOptions<E>] : [options: RequestOptions<E>]
  ): Promise<Result<Answer<E>>> {
    return this.#perform({ ...(options as object), operation: endpoint }) as Promise<Result<Answer<E>>>;
  }

  /**
   * Yields pages of events after a cursor and then waits for more, until the signal ends it. Store `next_cursor` once
   * you have processed a page, to continue there later without missing an event.
   */
  followEvents(options: { after?: string | undefined; signal?: AbortSignal | undefined } = {}): AsyncGenerator<EventPage, void, undefined> {
    return follow((query) => this.#read('GET /v1/events', { query, signal: options.signal }), options.after, options.signal);
  }

  /** Waits until a report is completed. Throws `ReportFailedError` if it cannot be generated. */
  waitForReport(id: string, options: CallOptions = {}): Promise<Schemas['Report']> {
    return waitForReport(() => this.#read('GET /v1/reports/{id}', { ...options, path: { id } }), options.signal);
  }

  async #read<E extends Exclude<Endpoint, DownloadEndpoint>>(endpoint: E, options: object): Promise<Answer<E>> {
    return (await this.#perform({ ...options, operation: endpoint })).data as Answer<E>;
  }

  #perform(call: Call): Promise<Result<unknown>> {
    return this.#transport.send(call, async (response, attempt) => {
      const data = await readBody(call.operation, response);
      attempt.end();
      const { status, headers } = response;
      return { data, status, headers, etag: headers.get('etag') ?? undefined, requestId: headers.get('x-request-id') ?? undefined };
    });
  }

  async #issue(options: AnodyneOptions): Promise<IssuedToken> {
    if (options.token !== undefined) {
      return { value: typeof options.token === 'string' ? options.token : await options.token() };
    }
    const scope = options.scopes?.join(' ');
    const token = await this.#read('POST /oauth/token', { body: { grant_type: 'client_credentials', scope } });
    if (!token?.access_token) throw new AnodyneError('POST /oauth/token: the response has no token');
    return { value: token.access_token, lifetime: token.expires_in * 1000 };
  }
}

export interface Anodyne extends Groups<typeof operations> {}

/** Returns what authenticates the forms of OAuth. */
function credentialsOf(options: AnodyneOptions, base: string): () => Promise<Record<string, string>> {
  if (options.token !== undefined) return async () => ({});
  if (isBrowser()) {
    throw new AnodyneError('a client secret or private key does not belong in a browser, where every visitor can use it; give a token instead');
  }
  if (options.clientId && options.privateKey && options.keyId) {
    const signer = new Signer(options.clientId, options.keyId, options.privateKey, `${base}/oauth/token`);
    return () => signer.credentials();
  }
  if (options.clientId && options.clientSecret) {
    const credentials = { client_id: options.clientId, client_secret: options.clientSecret };
    return async () => credentials;
  }
  throw new AnodyneError('give a clientId with a clientSecret, or with a privateKey and its keyId, or a token');
}

function isBrowser(): boolean {
  return typeof document !== 'undefined' && typeof window !== 'undefined';
}

function isNode(): boolean {
  return (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined;
}

function checkBase(baseUrl: string): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new AnodyneError('baseUrl must be absolute, such as https://anodyne.example.org');
  }
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new AnodyneError('baseUrl must be http or https, without credentials, query or fragment');
  }
  return url.href.replace(/\/+$/, '');
}

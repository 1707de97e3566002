import { Attempt } from './attempt.js';
import { AnodyneError, AuthenticationError, ConnectionError, InvalidResponseError, readError } from './errors.js';
import { readRateLimit, type RateLimit } from './ratelimit.js';
import { encode, parameters, type Call, type EncodedRequest } from './request.js';
import { mayRepeat, retryDelay, sleep } from './retry.js';
import type { Tokens } from './token.js';

/** Reads a successful response. It may keep the attempt, and must then end it. */
export type Reader<T> = (response: Response, attempt: Attempt) => Promise<T>;

/** Settings that apply to all calls. */
export interface TransportOptions {
  base: string;
  /** Returns what authenticates a form of OAuth. It is called for each attempt. */
  credentials: () => Promise<Record<string, string>>;
  fetch: typeof fetch;
  userAgent: string | undefined;
  timeout: number;
  maxRetries: number;
}

/** Sends calls: every request of the library passes through send. */
export class Transport {
  /** The allowance according to the last response. */
  rateLimit: RateLimit | undefined;

  constructor(
    readonly options: TransportOptions,
    private readonly tokens: Tokens,
  ) {}

  /** Performs a call: gets a token, retries, and renews the token once if it is rejected. */
  async send<T>(call: Call, read: Reader<T>): Promise<T> {
    const request = encode(this.options.base, call);
    const maxRetries = call.maxRetries ?? this.options.maxRetries;
    let isRenewed = false;
    for (let retries = 0; ; ) {
      call.signal?.throwIfAborted();
      const token = request.needsToken ? await this.tokens.get(call.signal) : undefined;
      try {
        return await this.#attempt(request, token, call, read);
      } catch (error) {
        if (token !== undefined && !isRenewed && isTokenRejected(error) && this.tokens.drop(token)) {
          isRenewed = true;
          continue;
        }
        const delay = retryDelay(retries, error);
        if (retries >= maxRetries || delay === undefined || !mayRepeat(request.isHarmlessToRepeat, error)) throw error;
        await sleep(delay, call.signal);
        retries++;
      }
    }
  }

  async #attempt<T>(request: EncodedRequest, token: string | undefined, call: Call, read: Reader<T>): Promise<T> {
    const headers = new Headers(request.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    if (this.options.userAgent !== undefined) headers.set('user-agent', this.options.userAgent);
    const body = request.form === undefined ? request.body : parameters({ ...(await this.options.credentials()), ...request.form }).toString();
    const attempt = new Attempt(call.timeout ?? this.options.timeout, call.signal);
    try {
      const response = await this.options.fetch(request.url, {
        method: request.method,
        headers,
        ...(body === undefined ? {} : { body }),
        signal: attempt.signal,
        // The API has no redirects; following one could send the token to another host.
        redirect: 'manual',
        credentials: 'omit',
      });
      this.rateLimit = readRateLimit(response.headers) ?? this.rateLimit;
      if (!response.ok) {
        const error = await readError(response);
        attempt.end();
        throw error;
      }
      return await read(response, attempt);
    } catch (error) {
      attempt.end();
      throw asConnectionError(error, request.operation, attempt, call.signal);
    }
  }
}

/** Returns the reason of the caller's signal if that ended the attempt, and errors of this library as they are. */
export function asConnectionError(error: unknown, operation: string, attempt: Attempt, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  return error instanceof AnodyneError ? error : new ConnectionError(operation, attempt.isTimeout, { cause: error });
}

/** Reports whether a new token may help. */
function isTokenRejected(error: unknown): boolean {
  return (
    error instanceof AuthenticationError &&
    ['expired_token', 'revoked_token', 'invalid_token'].includes(String(error.details['reason']))
  );
}

/** Reads a body: JSON as its value, nothing as undefined, anything else as text. */
export async function readBody(operation: string, response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  const type = response.headers.get('content-type') ?? '';
  if (!/^application\/([\w.-]+\+)?json\b/.test(type)) {
    if (/^(text\/(?!html)|application\/yaml)/.test(type)) return text;
    throw new InvalidResponseError(`${operation}: the response is not JSON, but ${type || 'of no type'}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    // Without its cause, which quotes the body.
    throw new InvalidResponseError(`${operation}: the response is not valid JSON`);
  }
}

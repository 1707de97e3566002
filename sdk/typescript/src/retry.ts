import { ApiError, ConnectionError } from './errors.js';

const firstBackoff = 250;
const maxBackoff = 8_000;

/**
 * The longest delay before a retry. A used-up allowance can mean a wait of almost an hour, which is left to the caller.
 */
const maxRetryAfter = 60_000;

/** Reports whether a request that failed with error may be sent again. */
export function mayRepeat(isHarmless: boolean, error: unknown): boolean {
  if (error instanceof ConnectionError) return isHarmless;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429 || error.status === 503) return true; // the service did not act on it
  // With this code, an earlier attempt of the call is still running.
  return (error.status >= 500 && isHarmless) || error.code === 'IDEMPOTENCY_IN_PROGRESS';
}

/** Returns the milliseconds to wait before a retry, or undefined if the service asks for too long a wait. */
export function retryDelay(retries: number, error: unknown): number | undefined {
  const asked = (error instanceof ApiError && error.retryAfter) || 0;
  if (asked > maxRetryAfter) return undefined;
  const backoff = Math.min(maxBackoff, firstBackoff * 2 ** retries);
  return asked + backoff / 2 + (Math.random() * backoff) / 2;
}

/** Waits. Rejects with the signal's reason if that ends first. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  return abortable(elapsed, signal).finally(() => clearTimeout(timer));
}

/** Waits for a promise that others may share. Rejects with the signal's reason if that ends first. */
export function abortable<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

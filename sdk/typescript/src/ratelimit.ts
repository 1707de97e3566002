/** The state of an hourly allowance. */
export interface RateLimit {
  limit: number;
  remaining: number;
  /** When the full allowance is available again. */
  reset: Date;
}

/** Reads the rate-limit headers of a response, if they are complete. */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const value = headers.get(`x-ratelimit-${name}`);
    return value && /^\d+$/.test(value) ? Number(value) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, reset: new Date(reset * 1000) };
}

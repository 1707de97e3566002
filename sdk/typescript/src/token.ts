import { abortable } from './retry.js';

/** The margin before the end of a token at which it is renewed, unless a tenth of its lifetime is less. */
const renewalMargin = 60_000;

/** A token and, if known, its lifetime in milliseconds. */
export interface IssuedToken {
  value: string;
  lifetime?: number;
}

/** Holds the access token. Callers that need a new one at the same time share one request for it. */
export class Tokens {
  #value: string | undefined;
  #renewAt = Infinity;
  #renewal: Promise<string> | undefined;

  constructor(
    private readonly issue: () => Promise<IssuedToken>,
    private readonly isFixed = false,
  ) {}

  /** Returns the current token, or a new one. The request for it goes on if only this caller gives up. */
  get(signal?: AbortSignal): Promise<string> {
    if (this.#value !== undefined && Date.now() < this.#renewAt) return Promise.resolve(this.#value);
    this.#renewal ??= this.#renew().finally(() => (this.#renewal = undefined));
    return abortable(this.#renewal, signal);
  }

  /** Discards a token that was rejected, unless it was replaced already. Reports whether there can be another. */
  drop(rejected: string): boolean {
    if (this.#value === rejected) this.#value = undefined;
    return !this.isFixed;
  }

  async #renew(): Promise<string> {
    const { value, lifetime } = await this.issue();
    this.#value = value;
    this.#renewAt = lifetime === undefined ? Infinity : Date.now() + lifetime - Math.min(renewalMargin, lifetime / 10);
    return value;
  }
}

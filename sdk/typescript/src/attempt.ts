/** One attempt of a call. Its signal ends with the caller's, or if the attempt takes too long. */
export class Attempt {
  readonly #controller = new AbortController();
  readonly #abort = () => this.#controller.abort(this.caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the attempt was ended because it took too long. */
  isTimeout = false;

  constructor(
    private readonly timeout: number,
    private readonly caller: AbortSignal | undefined,
  ) {
    if (caller?.aborted) this.#abort();
    caller?.addEventListener('abort', this.#abort, { once: true });
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the time limit again. */
  restart(): void {
    this.pause();
    this.#timer = setTimeout(() => {
      this.isTimeout = true;
      this.#controller.abort();
    }, this.timeout);
  }

  /** Stops the time limit. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Frees what the attempt holds. */
  end(): void {
    this.pause();
    this.caller?.removeEventListener('abort', this.#abort);
  }
}

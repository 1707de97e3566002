/** The most records that every list returns on a page. */
const maxLimit = 100;

type Query = Record<string, unknown>;

/**
 * A list. Await it for the page that the query asks for, or iterate over it for all records from there on, which are
 * fetched page by page.
 */
export class List<Page, Item> implements Promise<Page>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'List';
  #page: Promise<Page> | undefined;

  constructor(
    private readonly fetch: (query: Query) => Promise<Page>,
    private readonly query: Query,
    private readonly turn: (query: Query, page: Page) => Query | undefined,
  ) {}

  then<A = Page, B = never>(
    onfulfilled?: ((page: Page) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#page ??= this.fetch(this.query);
    return this.#page.then(onfulfilled, onrejected);
  }

  catch<B = never>(onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page | B> {
    return this.then(undefined, onrejected);
  }

  finally(onfinally?: (() => void) | null): Promise<Page> {
    return this.then().finally(onfinally);
  }

  /** Yields whole pages, for example to store the cursor after each. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    for (let query: Query | undefined = { limit: maxLimit, ...this.query }; query; ) {
      const page: Page = await this.fetch(query);
      yield page;
      query = this.turn(query, page);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* (page as { data: Item[] }).data;
  }
}

/** Returns the query of the page after this one of a list with page numbers. */
export function nextPage(query: Query, page: unknown): Query | undefined {
  const { data, pagination } = page as { data: unknown[]; pagination: { page: number; limit: number; total: number } };
  const isLast = data.length === 0 || pagination.page * pagination.limit >= pagination.total;
  return isLast ? undefined : { ...query, page: pagination.page + 1 };
}

/** Returns the query of the page after this one of a log, which ends where the cursor no longer moves. */
export function nextCursor(query: Query, page: unknown): Query | undefined {
  const { next_cursor: after } = page as { next_cursor: string };
  return after === '' || after === query['after'] ? undefined : { ...query, after };
}

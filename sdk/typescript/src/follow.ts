import { sleep } from './retry.js';
import type { Schemas } from './types.js';

/** One page of the event log. */
export type EventPage = Schemas['EventList'];

/** Seconds that one request waits for an event. */
const wait = 25;

/** The least time between two requests without events, in case a proxy answers without waiting. */
const minPause = 1_000;

/** Yields the pages of the event log that have events. */
export async function* follow(
  read: (query: { after?: string; limit: number; wait: number }) => Promise<EventPage>,
  after: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventPage, void, undefined> {
  for (;;) {
    const asked = Date.now();
    const page = await read({ limit: 100, wait, ...(after === undefined ? {} : { after }) });
    if (page.data.length > 0) {
      yield page;
    } else {
      await sleep(Math.max(0, minPause - (Date.now() - asked)), signal);
    }
    after = page.next_cursor;
  }
}

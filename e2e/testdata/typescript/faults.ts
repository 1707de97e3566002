// What a client does when the service or the network fails.
import assert from 'node:assert/strict';

import { Anodyne, ApiError, AuthenticationError, ConnectionError, GoneError, InvalidResponseError, RateLimitError, ServerError } from '@anodyne/client';

import { baseUrl, connect, meet, tokens } from './meet.js';

const anodyne = connect();
const bo = await anodyne.patients.create({ name: 'Bo', date_of_birth: '1970-01-01' });
const get = () => anodyne.patients.get(bo.id);
const create = () => anodyne.patients.create({ name: 'Ada', date_of_birth: '1970-01-01' });
const update = () => anodyne.patients.update(bo.id, { name: 'Bob' });

// Retry-After, in seconds and as a date, for calls of any kind.
for (const [fault, run] of [['429 date', get], ['503 1', create], ['429 1', update]] as const) {
  const { error, seen } = await meet([fault], run);
  assert.equal(error, undefined);
  assert.equal(seen.length, 2);
  assert.equal(seen[0]!.key, seen[1]!.key);
  assert(seen[1]!.milliseconds - seen[0]!.milliseconds >= 1000, fault);
}

// An hour is left to the caller.
const later = await meet(['429 3600'], get);
assert(later.error instanceof RateLimitError);
assert.equal(later.error.retryAfter, 3_600_000);
assert.equal(later.seen.length, 1);

// The answer is lost, or breaks off: a patient is created once, and what is not safe to repeat is not repeated.
const before = (await anodyne.patients.list()).pagination.total;
for (const fault of ['lost', 'half', '502', 'refused']) {
  const { answer, seen } = await meet([fault, fault], create);
  assert.equal(answer?.name, 'Ada', fault);
  assert.equal(seen.length, 3);
  assert.equal(new Set(seen.map(({ key }) => key)).size, 1);
  assert(seen[0]!.key.length >= 32);
}
assert.equal((await anodyne.patients.list()).pagination.total, before + 4);
assert.equal((await meet(['lost'], get)).seen.length, 2);
assert.equal((await meet(['500'], get)).seen.length, 2);
const remove = () => anodyne.reports.delete('rep_00000000000000000000000000');
for (const run of [update, remove] as (() => Promise<unknown>)[]) {
  const { error, seen } = await meet(['lost'], run);
  assert(error instanceof ConnectionError && !error.isTimeout);
  assert(error.cause && /^anodyne: (PATCH|DELETE) \S+\{id\}: the connection failed$/.test(error.message), error.message);
  assert.equal(seen.length, 1);
  const failed = await meet(['500'], run);
  assert(failed.error instanceof ServerError && failed.error.status === 500);
  assert.equal(failed.seen.length, 1);
}

// Retries end.
const worn = await meet(Array(10).fill('lost'), get);
assert(worn.error instanceof ConnectionError);
assert.equal(worn.seen.length, 4);
const once = await meet(['lost'], () => anodyne.patients.get(bo.id, { maxRetries: 0 }));
assert(once.error instanceof ConnectionError);
assert.equal(once.seen.length, 1);

// A service that does not answer, and a caller that gives up: before a call, while it waits for an answer, for a
// retry, or for a token.
const silent = await meet(['stall'], () => anodyne.patients.get(bo.id, { timeout: 200, maxRetries: 0 }));
assert(silent.error instanceof ConnectionError && silent.error.isTimeout);
const reason = new Error('gave up');
const aborted = await meet([], () => anodyne.patients.get(bo.id, { signal: AbortSignal.abort(reason) }));
assert.equal(aborted.error, reason);
assert.equal(aborted.seen.length, 0);
const given = await meet(['stall'], async () => {
  const controller = new AbortController();
  const call = anodyne.patients.get(bo.id, { signal: controller.signal });
  await fetch(`${baseUrl}/-/met`); // the request has arrived
  controller.abort(reason);
  return call;
});
assert.equal(given.error, reason);
assert.equal(given.seen.length, 1);
const { setTimeout } = globalThis;
const asked = await meet(['429 30'], async () => {
  const controller = new AbortController();
  const call = anodyne.patients.get(bo.id, { signal: controller.signal });
  // The wait would never end by itself.
  await new Promise<void>((begun) => {
    globalThis.setTimeout = ((run: () => void, delay: number) => {
      if (delay < 30_000 || delay > 40_000) return setTimeout(run, delay);
      begun();
      return 0;
    }) as typeof setTimeout;
  });
  controller.abort(reason);
  return call;
});
globalThis.setTimeout = setTimeout;
assert.equal(asked.error, reason);
assert.equal(asked.seen.length, 1);
const waiting = new Anodyne({ baseUrl, token: () => new Promise(() => {}) });
const impatient = new AbortController();
const unanswered = waiting.patients.get(bo.id, { signal: impatient.signal });
impatient.abort(reason);
await assert.rejects(unanswered, (error) => error === reason);

// Answers that are not those of the service.
const gone = await meet(['410'], get);
assert(gone.error instanceof GoneError && gone.error.code === undefined && gone.error.status === 410);
const teapot = await meet(['418'], get);
assert(teapot.error instanceof ApiError && teapot.error.status === 418);
const moved = await meet(['302'], get);
assert(moved.error instanceof ApiError && moved.error.status === 302);
assert.equal(moved.seen.length, 1);
for (const fault of ['html', 'not json']) {
  const { error, seen } = await meet([fault], get);
  assert(error instanceof InvalidResponseError && !error.message.includes('secret'), fault);
  assert.equal(seen.length, 1);
}

// A download that breaks off goes on where it was.
const report = await anodyne.waitForReport((await anodyne.reports.create({ type: 'population_health', format: 'pdf' })).id);
const file = await meet(['half', 'half'], async () => {
  const { body } = await anodyne.reports.download(report.id);
  return new Response(body).arrayBuffer();
});
assert.equal(file.answer?.byteLength, report.size_bytes);
assert.equal(file.seen.length, 3);

// A new token that is rejected as well is not replaced again.
const hopeless = await meet(['401 expired_token', '401 expired_token'], get);
assert(hopeless.error instanceof AuthenticationError);
assert.equal(tokens(hopeless), 1);
assert.equal(hopeless.seen.length, 3);
const missing = await meet(['401 missing_token'], get);
assert(missing.error instanceof AuthenticationError);
assert.equal(missing.seen.length, 1);

console.log('done');

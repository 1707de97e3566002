// Every kind of call, with its types, and every error that the service gives.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

import {
  Anodyne, ApiError, AuthenticationError, BadRequestError, ConflictError, NotFoundError, NotModifiedError, PermissionDeniedError,
  PreconditionFailedError, ReportFailedError, UnprocessableError, type Schemas,
} from '@anodyne/client';

const baseUrl = process.env.ANODYNE_URL!;
const credentials = { clientId: process.env.CLIENT_ID!, clientSecret: process.env.CLIENT_SECRET! };
const anodyne = new Anodyne({ baseUrl: baseUrl + '/', ...credentials });
assert.equal(anodyne.rateLimit, undefined);

const ada = await anodyne.patients.create({ name: 'Ada Nowak', date_of_birth: '1984-05-17' });
const name: string = ada.name;
assert.equal(name, 'Ada Nowak');
const { limit, remaining, reset } = anodyne.rateLimit!;
assert(limit > remaining && reset > new Date());

// Clinical values have the type that data_type says.
const added = await anodyne.clinicalData.add(ada.id, { data_type: 'pain_scores', value: { score: 7 } });
assert(added.data_type === 'pain_scores');
const severity: 'none' | 'mild' | 'moderate' | 'severe' = added.value.derived.severity;
assert.equal(severity, 'severe');
const { data: batch } = await anodyne.clinicalData.addBatch(ada.id, {
  records: [
    { data_type: 'pain_scores', value: 3 },
    { data_type: 'sleep', value: { hours: 5.5 } },
  ],
});
assert.deepEqual(batch.map((record) => record.data_type), ['pain_scores', 'sleep']);
for await (const record of anodyne.clinicalData.list(ada.id, { data_type: 'sleep' })) {
  // @ts-expect-error: only some types have a score
  record.value.score;
  assert(record.data_type === 'sleep');
  const hours: number | null | undefined = record.value.hours;
  assert.equal(hours, 5.5);
  // @ts-expect-error: sleep has no score
  record.value.score;
}
const corrected = await anodyne.clinicalData.correct(ada.id, added.id, { value: { score: 6 } });
assert.equal((await anodyne.clinicalData.history(ada.id, corrected.id)).data.length, 2);
assert.equal((await anodyne.clinicalData.get(ada.id, added.id)).status, 'superseded');
assert.equal((await anodyne.patients.summary(ada.id, { as_of: '2020-01-01' })).patient_id, ada.id);

// @ts-expect-error: the value is not that of the type
export const misfit: Schemas['ClinicalRecordCreate'] = { data_type: 'sleep', value: { score: 7 } };
// These must not compile; they are never called.
export const mistakes = [
  // @ts-expect-error: the name of the parameter is search
  () => anodyne.patients.list({ serach: 'ada' }),
  // @ts-expect-error: a patient needs a date of birth
  () => anodyne.patients.create({ name: 'Ada' }),
  // @ts-expect-error: an operation that does not exist
  () => anodyne.request('GET /v1/patient'),
  // @ts-expect-error: the identifier is missing
  () => anodyne.request('GET /v1/patients/{id}'),
  // @ts-expect-error: neither credentials nor a token
  () => new Anodyne({ baseUrl }),
];

// Headers of a response, and conditional requests.
const read = await anodyne.request('GET /v1/patients/{id}', { path: { id: ada.id } });
assert.equal(read.data.id, ada.id);
assert.equal(read.status, 200);
assert(read.etag && read.requestId);
const renamed = await anodyne.patients.update(ada.id, { name: 'Ada Kowalska' }, { ifMatch: read.etag });
assert.equal(renamed.name, 'Ada Kowalska');

function refused(kind: typeof ApiError, status: number, code: string | undefined) {
  return (error: unknown) => {
    assert(error instanceof kind, `${String(error)} is not a ${kind.name}`);
    assert.equal(error.name, kind.name);
    assert.equal(error.status, status);
    assert.equal(error.code, code);
    assert(error.requestId && error.message.includes(error.requestId));
    return true;
  };
}
await assert.rejects(anodyne.patients.update(ada.id, { name: 'Ada' }, { ifMatch: read.etag }), refused(PreconditionFailedError, 412, 'PRECONDITION_FAILED'));
const { etag } = await anodyne.request('GET /v1/patients/{id}', { path: { id: ada.id } });
await assert.rejects(
  anodyne.request('GET /v1/patients/{id}', { path: { id: ada.id }, headers: { 'If-None-Match': etag } }),
  refused(NotModifiedError, 304, undefined),
);
await assert.rejects(anodyne.patients.create({ name: 'Ada Secret', date_of_birth: 'yesterday' }), (error) => {
  assert.equal(error.details.parameter, 'date_of_birth');
  // What is logged has nothing of the request.
  for (const logged of [error.message, error.stack, JSON.stringify(error), inspect(error)]) {
    assert(!logged.includes('Secret') && !logged.includes('yesterday'));
  }
  return refused(BadRequestError, 400, 'INVALID_PARAMETER')(error);
});
await assert.rejects(anodyne.patients.get('pat_00000000000000000000000000'), refused(NotFoundError, 404, 'NOT_FOUND'));
await assert.rejects(anodyne.patients.get('..'), (error) => /id is missing/.test(error.message));
await anodyne.aliases.create({ name: 'the blue pill', rxnorm_code: '7804' });
await assert.rejects(anodyne.aliases.create({ name: 'the blue pill', rxnorm_code: '7804' }), refused(ConflictError, 409, 'CONFLICT'));
const idempotencyKey = 'tour';
const first = await anodyne.patients.create({ name: 'Bo', date_of_birth: '1970-01-01' }, { idempotencyKey });
assert.equal((await anodyne.patients.create({ name: 'Bo', date_of_birth: '1970-01-01' }, { idempotencyKey })).id, first.id);
await assert.rejects(
  anodyne.patients.create({ name: 'Bea', date_of_birth: '1970-01-01' }, { idempotencyKey }),
  refused(UnprocessableError, 422, 'IDEMPOTENCY_KEY_REUSED'),
);
const narrow = new Anodyne({ baseUrl, ...credentials, scopes: ['patients:read'] });
await assert.rejects(narrow.audit.list(), refused(PermissionDeniedError, 403, 'FORBIDDEN'));
const stranger = new Anodyne({ baseUrl, clientId: credentials.clientId, clientSecret: 'cs_wrong' });
await assert.rejects(stranger.patients.get(ada.id), refused(AuthenticationError, 401, 'INVALID_CLIENT'));
const guesser = new Anodyne({ baseUrl, token: 'at_guessed' });
await assert.rejects(guesser.patients.get(ada.id), refused(AuthenticationError, 401, 'UNAUTHORIZED'));
for (const wrong of ['anodyne.example.org', 'ftp://anodyne.example.org', 'https://user:secret@anodyne.example.org']) {
  assert.throws(() => new Anodyne({ baseUrl: wrong, ...credentials }), (error) => !error.message.includes('secret'));
}

// Lists: one page, all records, whole pages, by number and by cursor.
for (const initial of 'CDEFG') await anodyne.patients.create({ name: initial, date_of_birth: '1970-01-01' });
const page = await anodyne.patients.list({ page: 2, limit: 3 });
assert.deepEqual([page.data.length, page.pagination.page, page.pagination.total], [3, 2, 7]);
const names: string[] = [];
for await (const patient of anodyne.patients.list({ limit: 3 })) names.push(patient.name);
assert.deepEqual(names, ['Ada Kowalska', 'Bo', 'C', 'D', 'E', 'F', 'G']);
const sizes: number[] = [];
for await (const { data } of anodyne.patients.list({ limit: 3 }).pages()) sizes.push(data.length);
assert.deepEqual(sizes, [3, 3, 1]);
for await (const patient of anodyne.patients.list({ search: 'nobody' })) assert(!patient);
for await (const patient of anodyne.patients.list()) {
  assert.equal(patient.name, 'Ada Kowalska');
  break;
}
const created: string[] = [];
for await (const event of anodyne.events.list({ limit: 3 })) if (event.type === 'patient.created') created.push(event.id);
assert.equal(new Set(created).size, 7);
const audit = await anodyne.audit.list({ action: 'patient.create' });
assert.equal(audit.data.length, 7);

// Events as they happen.
const stop = new AbortController();
let cursor = '';
for await (const { next_cursor } of anodyne.events.list().pages()) cursor = next_cursor;
const following = (async () => {
  for await (const { data } of anodyne.followEvents({ after: cursor, signal: stop.signal })) {
    assert.deepEqual(data.map((event) => event.type), ['patient.created']);
    stop.abort(new Error('seen enough'));
  }
})();
const stopped = assert.rejects(following, (error) => error.message === 'seen enough');
await anodyne.patients.create({ name: 'H', date_of_birth: '1970-01-01' });
await stopped;

// A report, its file, and the rest of the file.
const ordered = await anodyne.reports.create({ type: 'patient_summary', format: 'json', parameters: { patient_id: ada.id } });
const report = await anodyne.waitForReport(ordered.id);
assert.equal(report.status, 'completed');
const whole = await anodyne.reports.download(report.id);
assert.equal(whole.contentType.split(';')[0], 'application/json');
assert.equal(whole.size, report.size_bytes);
assert(whole.filename?.endsWith('.json'));
const bytes = await drain(whole.body);
assert.equal(bytes.length, report.size_bytes);
const hash = createHash('sha256');
hash.update(bytes);
assert.equal(hash.digest('hex'), report.sha256);
const rest = await anodyne.reports.download(report.id, { offset: 100, etag: whole.etag });
assert.equal(rest.size, report.size_bytes);
assert.deepEqual(await drain(rest.body), bytes.subarray(100));
await assert.rejects(anodyne.reports.download(report.id, { offset: 100, etag: '"other"' }), (error) => /file has changed/.test(error.message));
await assert.rejects(anodyne.reports.download(report.id, { offset: 100 }), (error) => /give its etag/.test(error.message));
assert.equal(await anodyne.reports.delete(report.id), undefined);
await assert.rejects(anodyne.reports.download(report.id), refused(NotFoundError, 404, 'NOT_FOUND'));
assert(new ReportFailedError(report) instanceof Error);

async function drain(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Tokens: a revoked one is replaced, and a function is asked for another one only then.
const { access_token: given } = await anodyne.oauth.createToken({ grant_type: 'client_credentials', scope: 'patients:read' });
assert.equal((await anodyne.oauth.introspect({ token: given })).active, true);
let issued = 0;
const token = async () => (issued++ === 0 ? given : (await anodyne.oauth.createToken({ grant_type: 'client_credentials' })).access_token);
const delegated = new Anodyne({ baseUrl, token });
await Promise.all(Array.from({ length: 10 }, () => delegated.patients.get(ada.id)));
assert.equal(issued, 1);
await anodyne.oauth.revoke({ token: given });
await Promise.all(Array.from({ length: 10 }, () => delegated.patients.get(ada.id)));
assert.equal(issued, 2);

// What needs no token.
const visitor = new Anodyne({ baseUrl, token: () => Promise.reject(new Error('no token')) });
assert.equal((await visitor.service.health()).status, 'ok');
assert((await visitor.service.openapiYaml()).includes('openapi: 3.1'));
assert((await visitor.oauth.metadata()).token_endpoint.endsWith('/oauth/token'));
await assert.rejects(visitor.patients.get(ada.id), (error) => error.message === 'no token');

console.log('done');

// Receives a delivery of the real service, and refuses what was changed.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';

import { Anodyne } from '@anodyne/client';
import { readWebhook, verifyWebhook, WebhookVerificationError, type WebhookEvent } from '@anodyne/client/webhooks';

const anodyne = new Anodyne({
  baseUrl: process.env.ANODYNE_URL!,
  clientId: process.env.CLIENT_ID!,
  clientSecret: process.env.CLIENT_SECRET!,
});

type Message = { body: Uint8Array; headers: Record<string, string | string[] | undefined> };
let arrive: (message: Message) => void;
const server = createServer(async (request, response) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
  response.writeHead(204).end();
  arrive({ body, headers: request.headers });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

/** Waits for the message that something causes. */
async function caused(cause: () => Promise<unknown>): Promise<Message> {
  const arrived = new Promise<Message>((resolve) => (arrive = resolve));
  await cause();
  return arrived;
}

const webhook = await anodyne.webhooks.create({ url: `http://127.0.0.1:${server.address().port}/`, events: ['patient.created'] });
const { secret } = webhook;
let patientId = '';
const { body, headers } = await caused(async () => {
  patientId = (await anodyne.patients.create({ name: 'Ada', date_of_birth: '1970-01-01' })).id;
});

const event: WebhookEvent = verifyWebhook(body, headers, secret);
assert(event.type === 'patient.created');
assert.equal(event.data.patient_id, patientId);
const text = new TextDecoder().decode(body);
const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), String(value)]));
assert.deepEqual(verifyWebhook(text, flat, ['whsec_b3RoZXI=', secret]), event);
const request = new Request('http://receiver.example', { method: 'POST', body: text, headers: flat });
assert.deepEqual(await readWebhook(request, secret), event);

function refuses(run: () => unknown) {
  assert.throws(run, (error) => error instanceof WebhookVerificationError && !error.message.includes(patientId));
}
refuses(() => verifyWebhook(text.replace(patientId, patientId.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'))), headers, secret));
refuses(() => verifyWebhook(new Uint8Array([...body, 0xff]), headers, secret));
refuses(() => verifyWebhook(body, headers, 'whsec_b3RoZXI='));
refuses(() => verifyWebhook(body, headers, []));
refuses(() => verifyWebhook(body, {}, secret));
for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
  refuses(() => verifyWebhook(body, { ...headers, [name]: undefined }, secret));
  refuses(() => verifyWebhook(body, { ...headers, [name]: `${headers[name]}1` }, secret));
}
const now = Date.now;
for (const minutes of [-6, 6]) {
  Date.now = () => now() + minutes * 60_000;
  refuses(() => verifyWebhook(body, headers, secret));
}
Date.now = now;
assert.throws(() => verifyWebhook(body, headers, 'not a secret!'), (error) => !(error instanceof WebhookVerificationError) && !error.message.includes('not a secret!'));

// During a rotation either secret verifies.
const { secret: rotated } = await anodyne.webhooks.rotateSecret(webhook.id);
const test = await caused(() => anodyne.webhooks.test(webhook.id));
for (const one of [secret, rotated]) assert.equal(verifyWebhook(test.body, test.headers, one).type, 'webhook.test');

// The service logs a delivery after our response to it.
async function deliveries(): Promise<unknown[]> {
  const all = [];
  for await (const delivery of anodyne.webhooks.deliveries(webhook.id, { limit: 1 })) all.push(delivery);
  return all;
}
const patience = performance.now() + 60_000;
while ((await deliveries()).length < 2 && performance.now() < patience) await new Promise((resolve) => setTimeout(resolve, 10));
assert.equal((await deliveries()).length, 2);
assert.equal(await anodyne.webhooks.delete(webhook.id), undefined);
server.close();
console.log('done');

// Receiving webhooks: a separate entry of the package, for servers.

import { Webhook } from 'standardwebhooks';

import { AnodyneError } from './errors.js';
import type { Schemas } from './types.js';

/** An event as sent to a webhook. Its `type` says which fields `data` has. */
export type WebhookEvent = Schemas['DeliveredEvent'];

/** The message does not come from the service, was changed on its way, or is too old. Respond with status 401. */
export class WebhookVerificationError extends AnodyneError {}

/** Headers as in a `Request` of the Fetch API, or in a request of Node's `http`. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

/**
 * Verifies a message according to Standard Webhooks v1 and returns its event. The body must be as received, before any
 * JSON parser. Pass both secrets during a rotation. Throws {@link WebhookVerificationError}, including if the message is
 * older than five minutes.
 */
export function verifyWebhook(body: string | Uint8Array, headers: WebhookHeaders, secret: string | readonly string[]): WebhookEvent {
  const text = typeof body === 'string' ? body : decode(body);
  const signed = Object.fromEntries(['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, header(headers, name)]));
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!secrets.some((one) => isSignedWith(one, text, signed))) {
    throw new WebhookVerificationError('webhook: the message has no valid signature, or is too old');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new WebhookVerificationError('webhook: the body is not JSON');
  }
}

/** Reads and verifies the message of a `Request`, as frameworks on the Fetch API have it. */
export async function readWebhook(request: Request, secret: string | readonly string[]): Promise<WebhookEvent> {
  return verifyWebhook(new Uint8Array(await request.arrayBuffer()), request.headers, secret);
}

function isSignedWith(secret: string, body: string, headers: Record<string, string>): boolean {
  let webhook: Webhook;
  try {
    webhook = new Webhook(secret);
  } catch {
    throw new AnodyneError('webhook: a secret is not as the service gave it'); // without showing it
  }
  try {
    webhook.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

function header(headers: WebhookHeaders, name: string): string {
  if (isHeaders(headers)) return headers.get(name) ?? '';
  const value = headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

/** Frameworks may have a class of their own. */
function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof (headers as Headers).get === 'function';
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new WebhookVerificationError('webhook: the body is not UTF-8');
  }
}

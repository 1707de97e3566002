import { AnodyneError } from './errors.js';
import type { CallOptions } from './types.js';

/** A call before it is encoded. */
export interface Call extends CallOptions {
  /** Method and path template, such as `GET /v1/patients/{id}`. Names the call in errors. */
  operation: string;
  path?: Record<string, unknown> | undefined;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
  headers?: Record<string, string | undefined> | undefined;
}

/** What all attempts of a call share. */
export interface EncodedRequest {
  operation: string;
  method: string;
  url: string;
  headers: Headers;
  body: string | undefined;
  /** The fields of a form of OAuth, to which credentials are added. */
  form: Record<string, unknown> | undefined;
  /** Whether the request carries the access token. */
  needsToken: boolean;
  /** Whether a second attempt has no further effect. */
  isHarmlessToRepeat: boolean;
}

/** Encodes a call, except for the forms of OAuth, which differ by attempt. */
export function encode(base: string, call: Call): EncodedRequest {
  const [method = '', template = ''] = call.operation.split(' ');
  const isForm = template.startsWith('/oauth/');
  const headers = new Headers({ accept: 'application/json' });
  let body: string | undefined;
  if (isForm) {
    headers.set('content-type', 'application/x-www-form-urlencoded');
  } else if (call.body !== undefined) {
    headers.set('content-type', method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    body = JSON.stringify(call.body);
  }
  if (call.ifMatch !== undefined) headers.set('if-match', call.ifMatch);
  for (const [name, value] of Object.entries(call.headers ?? {})) {
    if (value !== undefined) headers.set(name, value);
  }
  if (method === 'POST' && !isForm && !headers.has('idempotency-key')) {
    headers.set('idempotency-key', call.idempotencyKey ?? randomKey());
  }
  const query = parameters(call.query ?? {}).toString();
  return {
    operation: call.operation,
    method,
    url: base + fill(call, template) + (query && `?${query}`),
    headers,
    body,
    form: isForm ? { ...(call.body as object | undefined) } : undefined,
    needsToken: template.startsWith('/v1/'),
    // A repeated DELETE or conditional PATCH would report an error for what the first attempt achieved.
    isHarmlessToRepeat: method === 'GET' || method === 'PUT' || isForm || headers.has('idempotency-key'),
  };
}

function fill(call: Call, template: string): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = call.path?.[name];
    // An empty identifier would address the whole collection.
    if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
      throw new AnodyneError(`${call.operation}: ${name} is missing or not valid`);
    }
    return encodeURIComponent(value);
  });
}

/** Encodes the parameters of a query or a form; those that are undefined or null are left out. */
export function parameters(values: Record<string, unknown>): URLSearchParams {
  const list = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) list.set(name, String(value)); // an array is separated by commas
  }
  return list;
}

/** Unlike randomUUID, this is also available to pages that are not served over HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

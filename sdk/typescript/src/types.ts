// Types derived from the generated ones: what an operation of the API takes
// and returns.

import type { components, paths } from './schema.js';

/** The schemas of the API by name, such as `Schemas['Patient']`. */
export type Schemas = components['schemas'];

type Verb = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** An operation of the API, such as `'GET /v1/patients/{id}'`. */
export type Endpoint = {
  [P in keyof paths & string]: {
    [V in Verb]: paths[P][V] extends { responses: unknown } ? `${Uppercase<V>} ${P}` : never;
  }[Verb];
}[keyof paths & string];

type Operation<E extends Endpoint> = E extends `${infer V} ${infer P extends keyof paths & string}`
  ? paths[P][Lowercase<V> & Verb]
  : never;

type Parameters<E extends Endpoint, In extends 'path' | 'query' | 'header'> =
  Operation<E> extends { parameters: { [K in In]?: infer P } } ? Exclude<P, undefined> : never;

/** The path parameters of an operation, or `never`. */
export type PathParameters<E extends Endpoint> = Parameters<E, 'path'>;

/** The query parameters of an operation, or `never`. */
export type Query<E extends Endpoint> = Parameters<E, 'query'>;

/** The header parameters of an operation, or `never`. */
export type HeaderParameters<E extends Endpoint> = Parameters<E, 'header'>;

type Content<T> = [T] extends [never] ? never : T extends { content: infer C } ? C[keyof C] : never;

type RequestBody<E extends Endpoint> = Operation<E> extends infer O ? ('requestBody' extends keyof O ? O['requestBody'] : undefined) : never;

/** The body of an operation, or `never`. */
export type Body<E extends Endpoint> = Content<Exclude<RequestBody<E>, undefined>>;

/** Whether a body may be omitted. */
export type IsBodyOptional<E extends Endpoint> = undefined extends RequestBody<E> ? true : false;

type Success = 200 | 201 | 202 | 204;

/** The body of a successful response, `void` if there is none. */
export type Answer<E extends Endpoint> =
  Operation<E> extends { responses: infer R }
    ? { [S in keyof R & Success]: R[S] extends { content: infer C } ? C[keyof C] : void }[keyof R & Success]
    : never;

/** Operations that return a file. */
export type DownloadEndpoint = {
  [E in Endpoint]: Operation<E> extends { responses: { 206: unknown } } ? E : never;
}[Endpoint];

/** Operations that return one page of a list, by page number. */
export type PageEndpoint = {
  [E in Endpoint]: Answer<E> extends { data: unknown[]; pagination: unknown } ? E : never;
}[Endpoint];

/** Operations that return one page of a log, by cursor. */
export type CursorEndpoint = {
  [E in Endpoint]: Answer<E> extends { data: unknown[]; next_cursor: string } ? E : never;
}[Endpoint];

/** The record type of a list or log. */
export type Item<E extends Endpoint> = Answer<E> extends { data: (infer T)[] } ? T : never;

/** Settings of a single call. */
export interface CallOptions {
  /** Ends the call, including waits between attempts; the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take. For a download: that the response, or the next chunk of it, may take. */
  timeout?: number | undefined;
  /** How often the call may be retried. */
  maxRetries?: number | undefined;
  /**
   * The `Idempotency-Key` of a POST, instead of a random one. Set it to repeat a call safely after your program restarts.
   */
  idempotencyKey?: string | undefined;
  /** Applies a change only if the record still has this `ETag`; otherwise the call fails with `PreconditionFailedError`. */
  ifMatch?: string | undefined;
}

type Given<Name extends string, T> = [T] extends [never]
  ? { [K in Name]?: undefined }
  : Partial<T> extends T
    ? { [K in Name]?: T | undefined }
    : { [K in Name]: T };

/** What `request` takes: the parameters and the body of the operation, and settings of the call. */
export type RequestOptions<E extends Endpoint> = CallOptions &
  Given<'path', PathParameters<E>> &
  Given<'query', Query<E>> &
  (IsBodyOptional<E> extends true ? { body?: Body<E> | undefined } : { body: Body<E> }) & {
    headers?: (([HeaderParameters<E>] extends [never] ? {} : HeaderParameters<E>) & Record<string, string | undefined>) | undefined;
  };

// Turns the table of operations into methods. The arguments of a method are
// the path parameters in order, the body, the query, and the call's options,
// as far as the operation has them.

import type { Download, DownloadOptions } from './download.js';
import { List, nextCursor, nextPage } from './paging.js';
import type { Call } from './request.js';
import type {
  Answer, Body, CallOptions, CursorEndpoint, DownloadEndpoint, Endpoint, IsBodyOptional, Item, PageEndpoint, Query,
} from './types.js';

type Kind = 'value' | 'pages' | 'cursor' | 'file';

/** A line of the table. Narrow may have the body and the answer, if these are more specific than those of the operation. */
export class Line<K extends Kind, E extends Endpoint, Narrow = unknown> {
  declare readonly narrow: Narrow;

  constructor(
    readonly kind: K,
    readonly endpoint: E,
    readonly inputs: readonly string[],
  ) {}

  /** Narrows an operation that takes and returns one of several. */
  as<N extends { body: Body<E>; answer: Answer<E> }>(): Line<K, E, N> {
    return this as unknown as Line<K, E, N>;
  }
}

/** The inputs that an operation has. The table repeats them, because types do not exist when the program runs. */
type Inputs<E extends Endpoint> = [...([Body<E>] extends [never] ? [] : ['body']), ...([Query<E>] extends [never] ? [] : ['query'])];

/** An operation that returns one value. */
export function call<E extends Exclude<Endpoint, DownloadEndpoint>>(endpoint: E, ...inputs: Inputs<E>): Line<'value', E> {
  return new Line('value', endpoint, inputs);
}

/** An operation that returns a list with page numbers. */
export function pageList<E extends PageEndpoint>(endpoint: E): Line<'pages', E> {
  return new Line('pages', endpoint, ['query']);
}

/** An operation that returns a log with cursors. */
export function cursorList<E extends CursorEndpoint>(endpoint: E): Line<'cursor', E> {
  return new Line('cursor', endpoint, ['query']);
}

/** An operation that returns a file. */
export function file<E extends DownloadEndpoint>(endpoint: E): Line<'file', E> {
  return new Line('file', endpoint, []);
}

type PathArguments<E extends Endpoint> = E extends `${string}{${string}}${string}{${string}}${string}`
  ? [id: string, subId: string]
  : E extends `${string}{${string}}${string}`
    ? [id: string]
    : [];

/** The client adds the credentials to the forms of OAuth. */
type FormBody<E extends Endpoint> = E extends `POST /oauth/${string}` ? Omit<Body<E>, 'client_id' | 'client_secret'> : Body<E>;

type BodyArguments<E extends Endpoint, B> = [B] extends [never] ? [] : IsBodyOptional<E> extends true ? [body?: B] : [body: B];

type QueryArguments<Q> = [Q] extends [never] ? [] : Partial<Q> extends Q ? [query?: Q] : [query: Q];

type Method<L> =
  L extends Line<infer K, infer E, infer Narrow>
    ? {
        value: (
          ...args: [
            ...PathArguments<E>,
            ...BodyArguments<E, Narrow extends { body: infer B } ? B : FormBody<E>>,
            ...QueryArguments<Query<E>>,
            options?: CallOptions,
          ]
        ) => Promise<Narrow extends { answer: infer A } ? A : Answer<E>>;
        pages: (...args: [...PathArguments<E>, ...QueryArguments<Query<E>>, options?: CallOptions]) => List<Answer<E>, Item<E>>;
        cursor: (...args: [...PathArguments<E>, ...QueryArguments<Query<E>>, options?: CallOptions]) => List<Answer<E>, Item<E>>;
        file: (...args: [...PathArguments<E>, options?: CallOptions & DownloadOptions]) => Promise<Download>;
      }[K]
    : never;

type Table = Record<string, Record<string, Line<Kind, Endpoint>>>;

/** The groups of methods that a table describes. */
export type Groups<T extends Table> = { readonly [G in keyof T]: { readonly [N in keyof T[G]]: Method<T[G][N]> } };

/** What the methods rest on. */
export interface Caller {
  call(call: Call): Promise<unknown>;
  open(call: Call, options: DownloadOptions): Promise<Download>;
}

/** Makes the methods of a table. */
export function bind<T extends Table>(table: T, caller: Caller): Groups<T> {
  return mapValues(table, (group) => mapValues(group, (line) => method(line, caller))) as object as Groups<T>;
}

function method({ kind, endpoint, inputs }: Line<Kind, Endpoint>, caller: Caller): (...args: unknown[]) => unknown {
  switch (kind) {
    case 'value':
      return (...args) => caller.call(toCall(endpoint, inputs, args));
    case 'file':
      return (...args) => {
        const { offset, etag, ...call } = toCall(endpoint, inputs, args) as Call & DownloadOptions;
        return caller.open(call, { offset, etag });
      };
    default:
      return (...args) => {
        const first = toCall(endpoint, inputs, args);
        return new List((query) => caller.call({ ...first, query }), first.query ?? {}, kind === 'pages' ? nextPage : nextCursor);
      };
  }
}

/** Assigns the arguments of a method to the parts of a call. */
function toCall(operation: Endpoint, inputs: readonly string[], args: readonly unknown[]): Call {
  const rest = [...args];
  const path: Record<string, unknown> = {};
  for (const [, name = ''] of operation.matchAll(/\{(\w+)\}/g)) path[name] = rest.shift();
  const given: Record<string, unknown> = {};
  for (const input of inputs) given[input] = rest.shift();
  return { ...(rest[0] as CallOptions | undefined), operation, path, ...given };
}

function mapValues<A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

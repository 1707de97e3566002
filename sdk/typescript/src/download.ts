import type { Attempt } from './attempt.js';
import { AnodyneError, ConnectionError, InvalidResponseError } from './errors.js';
import type { Call } from './request.js';
import { asConnectionError, type Transport } from './transport.js';

/** A file that is being downloaded. */
export interface Download {
  /** The file from the requested position. If the connection breaks, the stream requests the rest and continues. */
  body: ReadableStream<Uint8Array>;
  contentType: string;
  /** Bytes of the whole file, if known. */
  size: number | undefined;
  /** Identifies the content. Pass it together with `offset` to continue a download later. */
  etag: string | undefined;
  /** The name that the service suggests. */
  filename: string | undefined;
}

/** Where to continue a download that was interrupted. */
export interface DownloadOptions {
  /** The number of bytes that are there already. */
  offset?: number | undefined;
  /** The `etag` of the download to continue. If the file has changed since, the call fails. */
  etag?: string | undefined;
}

interface Part {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  attempt: Attempt;
  headers: Headers;
}

/** Starts a download. */
export async function download(transport: Transport, call: Call, { offset = 0, etag }: DownloadOptions): Promise<Download> {
  const maxRetries = call.maxRetries ?? transport.options.maxRetries;
  let part = await open(transport, call, offset, etag);
  const { headers } = part;
  etag ??= headers.get('etag') ?? undefined;
  const total = size(headers);
  let position = offset;
  let failures = 0;

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          try {
            part.attempt.restart();
            const { done, value } = await part.reader.read();
            part.attempt.pause();
            if (done) {
              part.attempt.end();
              controller.close();
            } else {
              position += value.byteLength;
              failures = 0;
              controller.enqueue(value);
            }
            return;
          } catch (cause) {
            part.attempt.end();
            const error = asConnectionError(cause, call.operation, part.attempt, call.signal);
            if (position === total) {
              controller.close(); // nothing is missing
              return;
            }
            if (!(error instanceof ConnectionError) || etag === undefined || failures++ >= maxRetries) throw error;
            part = await open(transport, call, position, etag);
          }
        }
      },
      async cancel(reason) {
        part.attempt.end();
        await part.reader.cancel(reason);
      },
    },
    { highWaterMark: 0 }, // nothing is requested before it is read
  );
  return {
    body,
    contentType: headers.get('content-type') ?? 'application/octet-stream',
    size: total,
    etag,
    filename: /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1],
  };
}

/** Requests the file from a position. */
function open(transport: Transport, call: Call, offset: number, etag: string | undefined): Promise<Part> {
  if (offset > 0 && etag === undefined) {
    throw new AnodyneError(`${call.operation}: to continue a download, give its etag with the offset`);
  }
  const range = offset > 0 ? { range: `bytes=${offset}-`, 'if-range': etag } : {};
  return transport.send<Part>({ ...call, headers: { ...call.headers, accept: '*/*', ...range } }, async (response, attempt) => {
    if (offset > 0 && response.status !== 206) {
      await response.body?.cancel();
      throw new InvalidResponseError(`${call.operation}: the file has changed since the download began`);
    }
    if (!response.body) throw new InvalidResponseError(`${call.operation}: the response has no body`);
    attempt.pause();
    return { reader: response.body.getReader(), attempt, headers: response.headers };
  });
}

function size(headers: Headers): number | undefined {
  const text = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1] ?? headers.get('content-length');
  return text ? Number(text) : undefined;
}

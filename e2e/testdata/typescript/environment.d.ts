// What the programs use of Node, whose types are not installed.
declare const process: { env: Record<string, string>; exitCode: number };
declare module 'node:assert/strict' {
  const assert: {
    (value: unknown, message?: string): asserts value;
    equal(got: unknown, want: unknown, message?: string): void;
    deepEqual(got: unknown, want: unknown, message?: string): void;
    rejects(promise: Promise<unknown>, check: (error: any) => boolean): Promise<void>;
    throws(run: () => unknown, check: (error: any) => boolean): void;
  };
  export default assert;
}
declare module 'node:crypto' {
  export function createPrivateKey(pem: string): { export(options: { type: 'pkcs8'; format: 'der' }): Uint8Array<ArrayBuffer> };
  export function createHash(name: 'sha256'): { update(bytes: Uint8Array): void; digest(encoding: 'hex'): string };
}
declare module 'node:util' {
  export function inspect(value: unknown): string;
}
declare module 'node:http' {
  type Incoming = AsyncIterable<Uint8Array> & { headers: Record<string, string | string[] | undefined> };
  type Outgoing = { writeHead(status: number): Outgoing; end(): void };
  type Server = { listen(port: number, host: string, listening: () => void): void; address(): { port: number }; close(): void };
  export function createServer(handle: (request: Incoming, response: Outgoing) => Promise<void>): Server;
}

// Calls through a proxy that plays the faults which it is told to.
import { Anodyne } from '@anodyne/client';

export const baseUrl = process.env.ANODYNE_URL!;

/** A client that does not share its token with others. */
export const connect = () => new Anodyne({ baseUrl, clientId: process.env.CLIENT_ID!, clientSecret: process.env.CLIENT_SECRET! });

/** A request that arrived at the proxy. */
export interface Seen {
  request: string;
  key: string;
  token: string;
  milliseconds: number;
}

/** Makes a call of which the attempts meet these faults; returns what became of it, and the requests that the proxy saw. */
export async function meet<T>(faults: string[], run: () => PromiseLike<T>): Promise<{ answer?: T; error?: any; seen: Seen[] }> {
  await fetch(`${baseUrl}/-/faults`, { method: 'POST', body: JSON.stringify(faults) });
  let outcome: { answer?: T; error?: unknown };
  try {
    outcome = { answer: await run() };
  } catch (error) {
    outcome = { error };
  }
  const seen: Seen[] = await (await fetch(`${baseUrl}/-/seen`)).json();
  return { ...outcome, seen };
}

/** Counts the requests for a token. */
export const tokens = ({ seen }: { seen: Seen[] }) => seen.filter(({ request }) => request === 'POST /oauth/token').length;

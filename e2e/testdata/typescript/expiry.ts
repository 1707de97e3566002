// Tokens that expire, by the clock of the client and by that of the service.
import assert from 'node:assert/strict';

import { baseUrl, connect, meet, tokens } from './meet.js';

const anodyne = connect();
const many = () => Promise.all(Array.from({ length: 20 }, () => anodyne.patients.list()));

// Parallel calls share the request for a token.
assert.equal(tokens(await meet([], many)), 1);
assert.equal(tokens(await meet([], many)), 0);

// Shortly before its end by the clock here, a token is renewed without being rejected first.
const now = Date.now;
Date.now = () => now() + 59.5 * 60_000;
const due = await meet([], many);
assert.equal(tokens(due), 1);
assert.equal(due.seen.length, 21);
Date.now = now;

// One that the service calls expired is replaced, once for all calls that met it.
await fetch(`${baseUrl}/-/clock`);
const expired = await meet([], many);
assert.equal(expired.error, undefined);
assert.equal(tokens(expired), 1);
assert.equal(new Set(expired.seen.map(({ token }) => token).filter(Boolean)).size, 2);

console.log('done');

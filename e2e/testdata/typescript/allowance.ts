// Uses up the allowance of an hour.
import assert from 'node:assert/strict';

import { Anodyne, RateLimitError } from '@anodyne/client';

const anodyne = new Anodyne({
  baseUrl: process.env.ANODYNE_URL!,
  clientId: process.env.CLIENT_ID!,
  clientSecret: process.env.CLIENT_SECRET!,
  maxRetries: 0,
});
let refusal: unknown;
// A new hour may begin meanwhile, with another thousand.
for (let round = 0; round < 250 && !refusal; round++) {
  await Promise.all(Array.from({ length: 10 }, () => anodyne.patients.list({ limit: 1 }))).catch((error) => (refusal = error));
}
assert(refusal instanceof RateLimitError);
assert.equal(refusal.code, 'RATE_LIMIT_EXCEEDED');
assert.equal(refusal.rateLimit?.limit, 1000);
assert.equal(refusal.rateLimit?.remaining, 0);
assert(refusal.retryAfter! > 0 && refusal.retryAfter! <= 3_600_000);
assert.equal(anodyne.rateLimit?.limit, 1000);

console.log('done');

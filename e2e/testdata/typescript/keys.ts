// Authenticates with private keys instead of a secret.
import assert from 'node:assert/strict';

import { Anodyne, AnodyneError, AuthenticationError, type PrivateKey } from '@anodyne/client';

const baseUrl = process.env.ANODYNE_URL!;
const clientId = process.env.CLIENT_ID!;
const algorithms: Record<string, RsaHashedImportParams | EcKeyImportParams> = {
  RSA: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' },
  EC: { name: 'ECDSA', namedCurve: 'P-384' },
};
const { keys } = JSON.parse(process.env.PRIVATE_KEYS!) as { keys: (JsonWebKey & { kid: string })[] };
assert.equal(keys.length, 2);
for (const jwk of keys) {
  const { alg: _, ...plain } = jwk;
  const privateKey: PrivateKey = await crypto.subtle.importKey('jwk', plain, algorithms[jwk.kty!]!, false, ['sign']);
  const anodyne = new Anodyne({ baseUrl: baseUrl + '/', clientId, keyId: jwk.kid, privateKey, scopes: ['patients:read', 'patients:write'] });
  // Parallel calls share one token.
  const [ada] = await Promise.all([anodyne.patients.create({ name: 'Ada Nowak', date_of_birth: '1984-05-17' }), anodyne.patients.list()]);
  assert.equal((await anodyne.patients.get(ada.id)).name, 'Ada Nowak');
  const { access_token: token } = (await anodyne.oauth.createToken({ grant_type: 'client_credentials' }))!;
  assert((await anodyne.oauth.introspect({ token })).active);
  await anodyne.oauth.revoke({ token });

  const other = new Anodyne({ baseUrl, clientId, keyId: 'unknown', privateKey });
  await assert.rejects(Promise.resolve(other.patients.list()), (error) => error instanceof AuthenticationError);
}

const { privateKey: wrong } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
assert.throws(() => new Anodyne({ baseUrl, clientId, keyId: 'k', privateKey: wrong }), (error) => error instanceof AnodyneError);
// @ts-expect-error: a key needs its name
assert.throws(() => new Anodyne({ baseUrl, clientId, privateKey: wrong }), (error) => error instanceof AnodyneError);
console.log('done');

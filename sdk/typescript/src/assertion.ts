import { AnodyneError } from './errors.js';

/** Seconds that an assertion is valid. The service permits 300; the rest is for clocks that differ. */
const lifetime = 120;

/**
 * A private key of the Web Crypto API that may sign: `RSASSA-PKCS1-v1_5` with SHA-384 and at least 2048 bits, or `ECDSA` on the curve
 * P-384. It need not be extractable.
 */
export type PrivateKey = Parameters<typeof crypto.subtle.sign>[1];

/** Signs the assertions with which an application authenticates (`private_key_jwt`). */
export class Signer {
  readonly #algorithm: 'RS384' | 'ES384';

  constructor(
    private readonly clientId: string,
    private readonly keyId: string,
    private readonly key: PrivateKey,
    private readonly audience: string,
  ) {
    this.#algorithm = algorithmOf(key);
  }

  /** Returns the form fields that authenticate one request: the service accepts an assertion once. */
  async credentials(): Promise<Record<string, string>> {
    return {
      client_id: this.clientId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await this.#assertion(),
    };
  }

  async #assertion(): Promise<string> {
    const header = { alg: this.#algorithm, typ: 'JWT', kid: this.keyId };
    const claims = {
      iss: this.clientId,
      sub: this.clientId,
      aud: this.audience,
      exp: Math.floor(Date.now() / 1000) + lifetime,
      jti: base64url(crypto.getRandomValues(new Uint8Array(16))),
    };
    const signed = `${encodePart(header)}.${encodePart(claims)}`;
    const algorithm = this.#algorithm === 'RS384' ? { name: 'RSASSA-PKCS1-v1_5' } : { name: 'ECDSA', hash: 'SHA-384' };
    const signature = await crypto.subtle.sign(algorithm, this.key, new TextEncoder().encode(signed));
    return `${signed}.${base64url(new Uint8Array(signature))}`;
  }
}

function algorithmOf(key: PrivateKey): 'RS384' | 'ES384' {
  const { name, hash, modulusLength, namedCurve } = key.algorithm as {
    name: string;
    hash?: { name: string };
    modulusLength?: number;
    namedCurve?: string;
  };
  if (key.type === 'private' && key.usages.includes('sign')) {
    if (name === 'RSASSA-PKCS1-v1_5' && hash?.name === 'SHA-384' && (modulusLength ?? 0) >= 2048) return 'RS384';
    if (name === 'ECDSA' && namedCurve === 'P-384') return 'ES384';
  }
  throw new AnodyneError(
    'privateKey must be a private key that may sign: RSASSA-PKCS1-v1_5 with SHA-384 and at least 2048 bits, or ECDSA on the curve P-384',
  );
}

function encodePart(part: object): string {
  return base64url(new TextEncoder().encode(JSON.stringify(part)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

import { createHmac, createSecretKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { deriveKey, type KeyPurpose } from '../../src/lib/crypto.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

type Json = Record<string, unknown>;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part: string): Json => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json;

describe('session tokens', () => {
  const suite = usePlatform();
  let token: string;
  let header: Json;
  let claims: Json;
  beforeAll(async () => {
    ({ token } = await signUp(suite.url));
    const [first, second] = token.split('.');
    header = decode(first!);
    claims = decode(second!);
  });

  const key = (purpose: KeyPurpose = 'session') => deriveKey(suite.platform.config.jwtSecret, purpose);

  const signed = (changes: Json = {}, headerChanges: Json = {}, secret: Buffer = key(), hash = 'sha256') => {
    const text = `${encode({ ...header, ...headerChanges })}.${encode({ ...claims, ...changes })}`;
    return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
  };
  const unsigned = (alg: string, signature = '') =>
    `${encode({ ...header, alg })}.${encode(claims)}.${signature}`;
  const signatureOf = (text: string) => text.split('.')[2]!;
  const now = () => Math.floor(Date.now() / 1000);

  const me = (bearer: string) => call<ErrorAnswer>(suite.url, 'GET', '/api/auth/me', { token: bearer });

  test('are JWTs with every required claim', () => {
    expect(header).toEqual({ alg: 'HS256', typ: 'session+jwt' });
    expect(Object.keys(claims).sort()).toEqual(
      ['aud', 'exp', 'iat', 'iss', 'orig_iat', 'sid', 'sub', 'tv'].sort(),
    );
    expect((claims.exp as number) - (claims.iat as number)).toBe(3600);
  });

  test('made by this test with the right key are accepted, so the forgeries below fail for their own reason', async () => {
    expect((await me(signed())).status).toBe(200);
  });

  test.each<[string, () => string]>([
    ['alg none', () => unsigned('none')],
    ['alg None with the old signature', () => unsigned('None', signatureOf(token))],
    ['alg NONE', () => unsigned('NONE')],
    ['HS512 with the right key', () => signed({}, { alg: 'HS512' }, key(), 'sha512')],
    ['HS384 with the right key', () => signed({}, { alg: 'HS384' }, key(), 'sha384')],
    ['RS256 header over an HMAC', () => signed({}, { alg: 'RS256' })],
    [
      'a public key as HMAC secret',
      () => {
        const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        const pem = publicKey.export({ type: 'spki', format: 'pem' });
        return signed({}, {}, Buffer.from(pem));
      },
    ],
    [
      'the configured secret itself as key',
      () => signed({}, {}, Buffer.from(suite.platform.config.jwtSecret)),
    ],
    ['the key of mail hashes', () => signed({}, {}, key('mail-hash'))],
    ['the key of data keys', () => signed({}, {}, key('data-key'))],
    ['an empty key', () => signed({}, {}, createSecretKey(Buffer.from([0])).export())],
    [
      'a key brought along in jwk',
      () => signed({}, { jwk: { kty: 'oct', k: 'AAAA' } }, Buffer.from('AAAA', 'base64url')),
    ],
    ['a key named by kid', () => signed({}, { kid: '../../dev/null' }, Buffer.alloc(1))],
    ['a key named by jku', () => signed({}, { jku: 'https://evil.example/jwks' }, Buffer.from('evil'))],
    ['an unknown critical header', () => signed({}, { crit: ['exp2'], exp2: 1 })],
    ['type JWT', () => signed({}, { typ: 'JWT' })],
    ['no type', () => signed({}, { typ: undefined })],
    ['no exp', () => signed({ exp: undefined })],
    ['exp as text', () => signed({ exp: String(claims.exp) })],
    ['exp in the past', () => signed({ exp: now() - 1 })],
    ['exp in a year', () => signed({ exp: now() + 365 * 86_400 })],
    ['no iat', () => signed({ iat: undefined })],
    ['iat in the future', () => signed({ iat: now() + 3600, exp: now() + 7200 })],
    ['nbf in the future', () => signed({ nbf: now() + 3600 })],
    ['no orig_iat', () => signed({ orig_iat: undefined })],
    ['orig_iat after iat', () => signed({ orig_iat: now() + 1800 })],
    ['another issuer', () => signed({ iss: 'https://evil.example' })],
    ['no issuer', () => signed({ iss: undefined })],
    ['another audience', () => signed({ aud: 'inference-gateway/other' })],
    ['no audience', () => signed({ aud: undefined })],
    ['another account', () => signed({ sub: randomUUID() })],
    ['an account that is no id', () => signed({ sub: "' or 1=1 --" })],
    ['no account', () => signed({ sub: undefined })],
    ['a session that is no id', () => signed({ sid: 'x' })],
    ['no session', () => signed({ sid: undefined })],
    ['no token version', () => signed({ tv: undefined })],
    ['a token version to come', () => signed({ tv: 1 })],
    ['a negative token version', () => signed({ tv: -1 })],
    [
      'claims changed under the old signature',
      () => `${signed({ tv: 7 }).replace(/[^.]*$/, '')}${signatureOf(token)}`,
    ],
    ['no signature', () => token.replace(/[^.]*$/, '')],
    ['half a signature', () => token.slice(0, -20)],
    ['four parts', () => `${token}.x`],
    [
      'a JSON payload that is no object',
      () => {
        const text = `${encode(header)}.${encode([claims])}`;
        return `${text}.${createHmac('sha256', key()).update(text).digest('base64url')}`;
      },
    ],
  ])('forged with %s are refused', async (_what, forge) => {
    const answer = await me(forge());
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
  });
});

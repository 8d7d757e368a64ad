import { newApiKey } from '../../src/lib/key-form.js';
import { type Rig, startRig } from '../faults/rig/rig.js';
import { seedFrom } from '../support/seed.js';
import { sized } from '../support/size.js';
import { Random } from './fuzz/random.js';
import type { FuzzRequest } from './fuzz/requests.js';
import { converse } from './fuzz/wire.js';

/** No invalid API key gets in, however it is spelled (requirement T4). */
const VALUES = sized(10_000, 100_000);
const CONNECTIONS = 24;
const BATCH = 100;
const seed = seedFrom('FUZZ_SEED');

const SCHEMES = [
  'Bearer',
  'bearer',
  'BEARER',
  'Basic',
  'Token',
  'Digest',
  'Bearer:',
  'Bear',
  '',
  'Bearer Bearer',
];
const NOISE = [
  ...[
    "' or 1=1 --",
    "'; drop table api_keys; --",
    '%00',
    '\\0',
    'null',
    'undefined',
    '{}',
    '../../etc/passwd',
  ],
  ...['{{x}}', '$(id)', '\x80\xff', 'é', '=', ',', ';', '"', "'", '\\', '\t', '  ', '*', '%', '_', '0'],
];

/** Something that is nearly a credential. */
function nearly(random: Random, key: string): string {
  const at = random.below(key.length);
  const changes: (() => string)[] = [
    () => key.slice(0, at) + String.fromCharCode(0x21 + random.below(94)) + key.slice(at + 1),
    () => key.slice(0, at) + key.slice(at + 1),
    () => key.slice(0, at) + random.pick(NOISE) + key.slice(at),
    () => key.slice(0, at),
    () => key + random.pick(NOISE),
    () => random.pick(NOISE) + key,
    () => key + key,
    () => `${key},${key}`,
    () => key.toUpperCase(),
    () => [...key].reverse().join(''),
    () => `sk-pr-${'0'.repeat(random.below(60))}`,
    () => random.pick(NOISE).repeat(1 + random.below(40)),
    () => Buffer.from(key).toString('base64'),
    () => encodeURIComponent(key).replaceAll('-', '%2d'),
  ];
  // One in two hundred has the form: it is looked up.
  return random.chance(0.005) ? newApiKey() : random.pick(changes)();
}

function request(random: Random, key: string): FuzzRequest | undefined {
  const value = `${random.pick(SCHEMES)}${random.pick([' ', ' ', ' ', '', '  ', '\t'])}${nearly(random, key)}`;
  const good = `Authorization: Bearer ${key}`;
  // White space around a value is HTTP's own and not part of it.
  if (/^bearer \S+$/i.test(value.trim()) && value.trim().slice(7) === key) return undefined;
  const lines = random.chance(0.05) ? [good, `authorization: ${value}`] : [`Authorization: ${value}`];
  if (random.chance(0.05))
    lines.push(`${random.pick(['X-Api-Key', 'Api-Key', 'Cookie', 'Proxy-Authorization'])}: ${key}`);
  return { method: 'GET', text: ['GET /v1/models HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n') };
}

describe('no credential', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig('credentials', { direct: true });
  }, 60_000);
  afterAll(() => rig?.close(), 60_000);

  test(`but the key opens /v1: ${VALUES} others, FUZZ_SEED=${seed}`, async () => {
    const [caller] = await rig.customers(1);
    const { key } = caller!;
    const statuses = new Map<number, number>();
    const wrong: { status: number; body: string; sent: string }[] = [];
    let made = 0;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (made < VALUES && wrong.length === 0) {
          const random = new Random(seed + made);
          const requests = Array.from({ length: BATCH }, () => request(random, key)).filter(
            (one) => one !== undefined,
          );
          made += requests.length;
          const { answers, broken } = await converse(rig.url, requests, BATCH);
          expect(broken).toBeUndefined();
          for (const [i, { status, body }] of answers.entries()) {
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            if (status !== 401 || !body.includes('"code":"invalid_api_key"'))
              wrong.push({ status, body, sent: requests[i]!.text.replaceAll(key, 'KEY') });
          }
        }
      }),
    );
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(statuses.get(401)).toBeGreaterThanOrEqual(VALUES);
    const served = await fetch(`${rig.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(served.status).toBe(200);
  }, 120_000);
});

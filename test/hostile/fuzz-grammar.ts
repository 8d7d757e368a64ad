import { routeTable as platformRoutes } from '../../src/platform/route-table.js';

/** A seeded source of randomness (mulberry32): the same seed gives the same requests. */
export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
  chance(p: number): boolean {
    return this.next() < p;
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

export interface Credentials {
  key: string;
  user: string;
  admin: string;
}

const NASTY = [
  '', ' ', '\u0000', '\ud800', '%00', '%c0%af', '../..', "' or 1=1 --", '"; drop table accounts; --', '{{7*7}}',
  '1e400', '-0', 'NaN', 'null', '__proto__', 'constructor', 'toString', '🔑', '\u202e', 'a'.repeat(300), '<script>',
  '01900000-0000-7000-8000-000000000000', 'gateway/fast', 'free', 'team', 'active', 'a@b.cc', '9'.repeat(40), '\\', '\r\nX: 1',
]; // biome-ignore format: a table
const FIELDS = [
  'model', 'messages', 'stream', 'stream_options', 'include_usage', 'n', 'best_of', 'max_tokens', 'input', 'tools',
  'encoding_format', 'email', 'password', 'name', 'current_password', 'new_password', 'plan', 'status', 'role',
  'amount_usd', 'monthly_limit_usd', 'daily_limit_usd', 'limit', 'offset', 'search', '__proto__', 'constructor',
  'prototype', 'polluted', 'api_base', 'metadata', 'user_config', 'x'.repeat(200), '', '\u0000', 'user_id', 'balance',
]; // biome-ignore format: a table
const PATHS = [
  // Without the one file of 3 MB, which says nothing about anyone.
  ...platformRoutes.map(({ url }) => url).filter((url) => !url.endsWith('.js')),
  ...[
    '/v1/chat/completions',
    '/v1/chat/completions',
    '/v1/embeddings',
    '/v1/embeddings',
    '/v1/models',
    '/v1',
    '/v1/',
  ],
  ...[
    '/',
    '/graphql',
    '/widget/v1.js',
    '/api/widget/chat',
    '/favicon.ico',
    '/api',
    '/dashboard',
    '/v1/%zz',
    '//',
    '/%',
  ],
];
const METHODS = [
  'GET',
  'GET',
  'POST',
  'POST',
  'POST',
  'PATCH',
  'DELETE',
  'PUT',
  'HEAD',
  'OPTIONS',
  'QUERY',
  'TRACE',
];
const TYPES = [
  'application/json', 'application/json', 'application/json; charset=utf-8', 'text/plain', 'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded', '', '%', 'application/json; charset=utf-16', 'a/b; c="',
]; // biome-ignore format: a table

export function value(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 4 ? 6 : 10);
  if (kind < 3) return random.pick(NASTY);
  if (kind === 3) return random.pick([0, -1, 1, 1.5, 128, 129, 1e21, 2 ** 53, -1e-7, Number.MAX_VALUE]);
  if (kind === 4) return random.pick([true, false, null]);
  if (kind === 5)
    return random.pick(['gateway/fast', 'gateway/embed', [{ role: 'user', content: 'Hi' }], {}]);
  if (kind < 8) return Array.from({ length: random.below(4) }, () => value(random, depth + 1));
  return Object.fromEntries(
    Array.from({ length: random.below(6) }, () => [random.pick(FIELDS), value(random, depth + 1)]),
  );
}

/** Text of a body: JSON, nearly JSON, or noise. */
function body(random: Random): string {
  const kind = random.below(24);
  if (kind === 0) return '';
  if (kind === 1)
    return Array.from({ length: random.below(200) }, () => String.fromCharCode(random.below(256))).join('');
  if (kind === 2) return `{"messages":${'['.repeat(80)}${']'.repeat(80)},"model":"gateway/fast"}`;
  if (kind === 3) return `{"model":"gateway/fast","model":${JSON.stringify(value(random))}}`;
  if (kind === 4) return '['.repeat(random.below(20_000));
  if (kind === 5)
    return `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"model":"gateway/fast"}`;
  if (kind === 6) return JSON.stringify(value(random)) ?? '';
  const members = Object.fromEntries(
    Array.from({ length: random.below(7) }, () => [random.pick(FIELDS), value(random, 1)]),
  );
  const base = random.chance(0.5)
    ? { model: 'gateway/fast', messages: [{ role: 'user', content: 'Hi' }] }
    : {};
  const text = JSON.stringify({ ...base, ...members });
  if (random.chance(0.15)) return text.slice(0, random.below(text.length + 1));
  return random.chance(0.1) ? text.replace(/[:,{}"]/, random.pick([...':,{}"[]\\'])) : text;
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

function target(random: Random): string {
  let path = random.pick(PATHS).replace(':id', encode(random.pick(NASTY)));
  if (random.chance(0.1)) path += random.pick(['/', '//', ';a', '%00', '/..', '%2f..', '?', '/%e0%a4%a']);
  if (random.chance(0.3)) {
    const pairs = Array.from(
      { length: random.below(5) },
      () => `${encode(random.pick(FIELDS))}=${encode(random.pick(NASTY))}`,
    );
    path += `?${pairs.join('&')}`;
  }
  return path || '/';
}

function authorization(random: Random, { key, user, admin }: Credentials, path: string): string[] {
  // Ending the session would end what the others need it for.
  const harmless = !path.startsWith('/api/auth/logout');
  const kind = random.below(8);
  if (kind < 3 || path.startsWith('/v1')) return random.chance(0.9) ? [`Authorization: Bearer ${key}`] : [];
  if (kind === 3 && harmless) return [`Authorization: Bearer ${user}`];
  if (kind === 4 && harmless) return [`Authorization: Bearer ${admin}`];
  if (kind === 5 && harmless)
    return [`Cookie: pr_session=${user}`, ...(random.chance(0.3) ? ['Origin: http://evil.test'] : [])];
  if (kind === 6)
    return [`Authorization: ${random.pick(['Bearer', 'Basic eDp5', 'Bearer a.b.c', `Bearer ${key}x`])}`];
  return [];
}

const header = (text: string): string => text.replace(/[^ -~\x80-\xff]/g, '.');

/** One request whose framing is right, whatever else is wrong with it. */
export function framed(random: Random, credentials: Credentials): string {
  const path = target(random);
  const method = random.pick(METHODS);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: gateway.test',
    ...authorization(random, credentials, path),
  ];
  if (random.chance(0.1))
    lines.push(
      `${random.pick(['X-Forwarded-For', 'X-Api-Key', 'Accept', 'Range', 'If-Match', 'TE', 'Keep-Alive', 'Idempotency-Key', 'Cookie', 'Sec-Fetch-Site', 'Expect'])}: ${header(random.pick(NASTY))}`,
    );
  if (random.chance(0.03)) lines.push('Content-Encoding: gzip');
  if (
    method === 'GET' ||
    method === 'HEAD' ||
    method === 'TRACE' ||
    (method === 'OPTIONS' && random.chance(0.9))
  )
    return [...lines, '', ''].join('\r\n');
  const text = Buffer.from(body(random)).toString('latin1');
  if (random.chance(0.95)) lines.push(`Content-Type: ${random.pick(TYPES)}`);
  if (random.chance(0.8)) return [...lines, `Content-Length: ${text.length}`, '', text].join('\r\n');
  const chunks: string[] = [];
  for (let at = 0; at < text.length; ) {
    const part = text.slice(at, at + 1 + random.below(400));
    chunks.push(`${part.length.toString(16)}\r\n${part}\r\n`);
    at += part.length;
  }
  return [...lines, 'Transfer-Encoding: chunked', '', `${chunks.join('')}0\r\n\r\n`].join('\r\n');
}

/** A request with bytes flipped, cut, doubled or moved. */
export function mutated(random: Random, credentials: Credentials): string {
  let text = framed(random, credentials);
  for (let n = 1 + random.below(4); n > 0; n--) {
    const at = random.below(Math.min(text.length, 400));
    const part = text.slice(at, at + 1 + random.below(30));
    const change = random.below(5);
    if (change === 0) text = text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
    else if (change === 1) text = text.slice(0, at) + text.slice(at + part.length);
    else if (change === 2) text = text.slice(0, at) + part + text.slice(at);
    else if (change === 3)
      text =
        text.slice(0, at) + random.pick(['\r', '\n', '\r\n', '\0', ':', ' ', '\t', '\x80']) + text.slice(at);
    else text = text.slice(0, at);
  }
  return text;
}

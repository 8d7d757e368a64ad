import { METHODS as ALL_METHODS } from 'node:http';
import { operations, PATHS } from './operations.js';
import { Random } from './random.js';
import { anyValue, FIELDS, NASTY, sample, spoiled } from './values.js';

/** Who may ask, and what they own. */
export interface Credentials {
  key: string;
  user: string;
  admin: string;
  /** Ids that exist: of a key of the user, of an account that nobody needs. */
  ids: readonly string[];
}

export interface FuzzRequest {
  method: string;
  /** Bytes, one per character. */
  text: string;
}

/** Requests that go over one connection. Those that are framed come one behind another and each has an answer. */
export interface Round {
  framed: boolean;
  requests: FuzzRequest[];
}

const BATCH = 24;
const MUTATED_BATCH = 6;
/** Half of the rounds, so that one request in five is not what HTTP wants. */
const MUTATED_SHARE = 0.5;
/** Rounds of one run are far enough apart to have nothing in common. */
const STRIDE = 7_919;

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
const OTHER_METHODS = ALL_METHODS.filter((method) => method !== 'CONNECT');
const TYPES = [
  'application/json', 'application/json', 'application/json; charset=utf-8', 'text/plain', 'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded', '', '%', 'application/json; charset=utf-16', 'a/b; c="',
]; // biome-ignore format: a table
const ODD_HEADERS = [
  'X-Forwarded-For', 'X-Api-Key', 'Accept', 'Range', 'If-Match', 'TE', 'Keep-Alive', 'Idempotency-Key', 'Cookie',
  'Sec-Fetch-Site', 'Expect', 'Origin', 'X-Request-Id', 'X-HTTP-Method-Override', 'Accept-Encoding', 'Trailer',
]; // biome-ignore format: a table

const known = operations();

/** The requests of one round of a run. */
export function roundOf(seed: number, index: number, credentials: Credentials): Round {
  const random = new Random(seed + index * STRIDE);
  const framed = !random.chance(MUTATED_SHARE);
  const make = framed ? framedRequest : mutatedRequest;
  const requests = Array.from({ length: framed ? BATCH : MUTATED_BATCH }, () => make(random, credentials));
  return { framed, requests };
}

/** Text of a body: JSON, nearly JSON, or noise. */
function anyBody(random: Random): string {
  const kind = random.below(24);
  if (kind === 0) return '';
  if (kind === 1)
    return Array.from({ length: random.below(200) }, () => String.fromCharCode(random.below(256))).join('');
  if (kind === 2) return `{"messages":${'['.repeat(80)}${']'.repeat(80)},"model":"gateway/fast"}`;
  if (kind === 3) return `{"model":"gateway/fast","model":${JSON.stringify(anyValue(random))}}`;
  if (kind === 4) return '['.repeat(random.below(20_000));
  if (kind === 5)
    return `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"model":"gateway/fast"}`;
  if (kind === 6) return JSON.stringify(anyValue(random));
  const members = Object.fromEntries(
    Array.from({ length: random.below(7) }, () => [random.pick(FIELDS), anyValue(random, 1)]),
  );
  const text = JSON.stringify(members);
  if (random.chance(0.15)) return text.slice(0, random.below(text.length + 1));
  return random.chance(0.1) ? text.replace(/[:,{}"]/, random.pick([...':,{}"[]\\'])) : text;
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

const idIn = (random: Random, { ids }: Credentials): string =>
  random.chance(0.6) ? random.pick(ids) : encode(random.pick(NASTY));

function oddTarget(random: Random, credentials: Credentials): string {
  let path = random.pick(PATHS).replace(/\{\w+\}/g, () => idIn(random, credentials));
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
  if (path.startsWith('/v1')) return random.chance(0.9) ? [`Authorization: Bearer ${key}`] : [];
  if (kind < 3 && harmless) return [`Authorization: Bearer ${user}`];
  if (kind < 5 && harmless) return [`Authorization: Bearer ${admin}`];
  if (kind === 5 && harmless)
    return [`Cookie: pr_session=${user}`, ...(random.chance(0.3) ? ['Origin: http://evil.test'] : [])];
  if (kind === 6)
    return [
      `Authorization: ${random.pick(['Bearer', 'Basic eDp5', 'Bearer a.b.c', `Bearer ${key}`, `Bearer ${key}x`])}`,
    ];
  return [];
}

const header = (text: string): string => text.replace(/[^ -~\x80-\xff]/g, '.');

/** A call as the documents describe it, or with one thing wrong in it. */
function knownCall(random: Random, credentials: Credentials): { method: string; path: string; body: string } {
  const operation = random.pick(known);
  const query = operation.query
    .filter(() => random.chance(0.6))
    .map(({ name, schema }) => {
      const value = random.chance(0.2) ? random.pick(NASTY) : String(sample(random, schema));
      return `${name}=${encode(value)}`;
    });
  const path = operation.path.replace(/\{\w+\}/g, () => idIn(random, credentials));
  const value = operation.body && sample(random, operation.body);
  const body = random.chance(0.5) ? value : spoiled(random, value);
  return {
    method: operation.method,
    path: query.length > 0 ? `${path}?${query.join('&')}` : path,
    body: operation.body ? JSON.stringify(body) : '',
  };
}

const oddCall = (random: Random, credentials: Credentials) => ({
  method: random.chance(0.05) ? random.pick(OTHER_METHODS) : random.pick(METHODS),
  path: oddTarget(random, credentials),
  body: anyBody(random),
});

/** One request whose framing is right, whatever else is wrong with it. */
function framedRequest(random: Random, credentials: Credentials): FuzzRequest {
  const { method, path, body } = (random.chance(0.6) ? knownCall : oddCall)(random, credentials);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: gateway.test',
    ...authorization(random, credentials, path),
  ];
  if (random.chance(0.1)) lines.push(`${random.pick(ODD_HEADERS)}: ${header(random.pick(NASTY))}`);
  if (random.chance(0.03)) lines.push('Content-Encoding: gzip');
  const bodiless = ['GET', 'HEAD', 'TRACE'].includes(method) || (method === 'OPTIONS' && random.chance(0.9));
  if (bodiless) return { method, text: [...lines, '', ''].join('\r\n') };
  const text = Buffer.from(body).toString('latin1');
  if (random.chance(0.97)) {
    lines.push(`Content-Type: ${random.chance(0.85) ? 'application/json' : random.pick(TYPES)}`);
  }
  if (random.chance(0.8)) {
    return { method, text: [...lines, `Content-Length: ${text.length}`, '', text].join('\r\n') };
  }
  const chunks: string[] = [];
  for (let at = 0; at < text.length; ) {
    const part = text.slice(at, at + 1 + random.below(400));
    chunks.push(`${part.length.toString(16)}\r\n${part}\r\n`);
    at += part.length;
  }
  return {
    method,
    text: [...lines, 'Transfer-Encoding: chunked', '', `${chunks.join('')}0\r\n\r\n`].join('\r\n'),
  };
}

/** A request with bytes flipped, cut, doubled or moved. */
function mutatedRequest(random: Random, credentials: Credentials): FuzzRequest {
  const { method, text: whole } = framedRequest(random, credentials);
  let text = whole;
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
  return { method, text };
}

import type { Account } from './build.js';
import type { SeenCall } from './node.js';
import type { Got } from './send.js';

/** The compared values of a request or scenario, by name: `status`, `header retry-after`, `usage.cost`, …. */
export type Parts = Record<string, string>;

/** A value that differs between the two builds. */
export interface Difference {
  /** The request, or the scenario if no request can be named. */
  id: string;
  part: string;
  /** Undefined: absent. */
  baseline: string | undefined;
  now: string | undefined;
}

/** The name of the scenario that a difference belongs to. */
export const scenarioOf = ({ id }: Difference): string => id.split('/', 1)[0]!;

const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '<id>'],
  [/\b(resp|msg|fc|rs)_[0-9a-f]{32,}/g, '$1_<id>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)/g, '<time>'],
  [/"(created_at|completed_at|latency_ms|ttft_ms)":\d+/g, '"$1":<number>'],
  // Without an id of the node; an id from a script is kept.
  [/("created": *)1(?!700000000)\d{9}/g, '$1<number>'],
  [/(Try again in|try again in) \d+ s\b/g, '$1 <number> s'],
  [/"mac":"[\w-]+"/g, '"mac":"<mac>"'],
  [/127\.0\.0\.1:\d+|localhost:\d+/g, '<address>'],
  [/\b(?:[A-Z][a-z]{2}, )\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, '<date>'],
];

/** Removes from a text what differs between runs. */
export function normalized(text: string, { id, secrets }: Account): string {
  let plain = text.replaceAll(id, '<account>');
  for (const [name, secret] of Object.entries(secrets)) plain = plain.replaceAll(secret, `{${name}}`);
  for (const [pattern, replacement] of VOLATILE) plain = plain.replace(pattern, replacement);
  return plain;
}

const CLOCKED = /^(?:date|retry-after-ms|x-ratelimit-(?:remaining|reset)-.*)$/;

/** Seconds to wait depend on how long earlier requests took. */
const waitOf = (seconds: number): string =>
  seconds <= 1 ? 'a second' : seconds <= 10 ? 'seconds' : seconds <= 60 ? 'a minute' : 'longer';

function headerValue(name: string, value: string, account: Account, isVolatile: boolean): string {
  if (CLOCKED.test(name)) return '<present>';
  if (name === 'retry-after') return waitOf(Number(value));
  if (isVolatile && (name === 'content-length' || name === 'etag')) return '<present>';
  return normalized(value, account);
}

/** The compared values of a response. How much a client had read before it left is random. */
export function answerParts({ status, headers, body, end }: Got, account: Account): Parts {
  const text = normalized(body, account);
  const parts: Parts = { status: String(status), end, ...(end !== 'left' && { body: text }) };
  for (const [name, value] of headers)
    parts[`header ${name}`] = headerValue(name, value, account, text !== body);
  return parts;
}

/** The compared values of requests to nodes. Which deployment of a group comes first is random. */
export function nodeParts(calls: readonly SeenCall[] | undefined, account: Account): Parts {
  const parts: Parts = {};
  for (const [i, { deployment, target, headers, body }] of (calls ?? []).entries()) {
    const group = deployment.replace(/-\w$/, '');
    parts[`node ${i} call`] = `${group}: ${target}`;
    parts[`node ${i} headers`] = normalized(headers, account).replaceAll(deployment, group);
    parts[`node ${i} body`] = normalized(body, account);
  }
  return parts;
}

/** The differences between two builds, sorted by name. */
export function differences(id: string, baseline: Parts, now: Parts): Difference[] {
  const names = [...new Set([...Object.keys(baseline), ...Object.keys(now)])].sort();
  return names
    .filter((part) => baseline[part] !== now[part])
    .map((part) => ({ id, part, baseline: baseline[part], now: now[part] }));
}

import { isIP } from 'node:net';
import { z } from 'zod';
import { addressInput } from './lib/email-input.js';
import { isSteering } from './lib/steering-fields.js';

/** Kinds of variables. Messages say what is expected; the name of the variable is put in front. */

/** A whole number, at most `max` if given. */
export function envWhole(min: number, max = Number.MAX_SAFE_INTEGER) {
  const error =
    max === Number.MAX_SAFE_INTEGER
      ? `must be an integer, ${min} or more`
      : `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .trim()
    .refine((text) => /^\d{1,16}$/.test(text) && Number(text) >= min && Number(text) <= max, error)
    .transform(Number);
}

export const port = envWhole(0, 65_535);

const DAY = 86_400;
const secondsWithin = (isWithin: (value: number) => boolean, range: string) =>
  z
    .string()
    .trim()
    .refine(
      (text) => /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) && isWithin(Number(text)),
      `must be a number of seconds ${range}`,
    )
    .transform(Number);

/** Seconds, a fraction allowed, up to a day. */
export const seconds = secondsWithin((value) => value > 0 && value <= DAY, `above 0, at most ${DAY}`);

/** Like `seconds`, or 0 for never. */
export const secondsOrNever = secondsWithin((value) => value <= DAY, `from 0 to ${DAY}`);

export const url = (protocols: RegExp, kind: string, example: string) =>
  z.url({ protocol: protocols, error: `must be a URL (${kind}), such as ${example}` });

/** One or several URLs, separated by commas, that differ in host and port only. */
export const sameUrls = (protocols: RegExp, kind: string, example: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((one) => one.trim()))
    .pipe(z.array(url(protocols, kind, example)))
    .refine(
      (urls) =>
        new Set(
          urls
            .filter((one) => URL.canParse(one))
            .map((one) => new URL(one))
            .map(({ protocol, pathname }) => protocol + pathname),
        ).size <= 1,
      'must be URLs with the same protocol and path',
    );

/** Redis has 16 databases. The client would use the first one in the place of another that the server refuses. */
export function hasRedisDatabase(address: string): boolean {
  if (!/^rediss?:/.test(address) || !URL.canParse(address)) return true;
  const { pathname, searchParams } = new URL(address);
  return /^(?:\d|1[0-5])?$/.test(searchParams.get('db') ?? pathname.slice(1));
}

export const envFlag = z.enum(['0', '1'], { error: 'must be 0 or 1' }).transform((value) => value === '1');

/** One word of a list. */
export const envOneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` });

/** A share, 0 to 1. */
export const share = z
  .string()
  .trim()
  .refine((text) => /^[01](?:\.\d{1,9})?$/.test(text) && Number(text) <= 1, 'must be a number from 0 to 1')
  .transform(Number);

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]{0,4000}$/;

/** Headers in OpenTelemetry's format: `name=value,name=value`, the values percent-encoded. They may be secrets. */
export const headerList = z.string().transform((list, context) => {
  const headers: Record<string, string> = {};
  for (const part of list.split(',').filter((one) => one.trim() !== '')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at)).trim().toLowerCase();
    const value = decodedValue(part.slice(at + 1).trim());
    if (HEADER_NAME.test(name) && value !== undefined && HEADER_VALUE.test(value)) headers[name] = value;
    else {
      context.addIssue({ code: 'custom', message: 'must be name=value pairs, separated by commas' });
      return z.NEVER;
    }
  }
  return headers;
});

function decodedValue(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A mail address, with or without a name before it: `Gateway <alerts@example.com>`. */
export const mailFrom = z
  .string()
  .trim()
  .refine((value) => {
    const address = /^[^<>\p{Cc}]*<([^<>]+)>$/u.exec(value)?.[1] ?? value;
    return addressInput.safeParse(address).success;
  }, 'must be an email address, or a name and an email address in <>');

export const envText = (min: number, max: number) => {
  const error = `must have ${min} to ${max} characters`;
  return z.string().min(min, { error }).max(max, { error });
};

const MOST_BODY_FIELDS = 100;

/** Additional body members to forward, separated by commas. */
export const bodyFields = z.string().transform((list, context) => {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const fault = (message: string): void => void context.addIssue({ code: 'custom', message });
  if (names.length > MOST_BODY_FIELDS) fault(`must have at most ${MOST_BODY_FIELDS} names`);
  for (const name of names) {
    const shown = JSON.stringify(name.slice(0, 64));
    if (!/^[\w.-]{1,64}$/.test(name)) fault(`${shown} is not a field name`);
    else if (isSteering(name)) {
      fault(`${shown} would control the model proxy, or override the limit on what a call may generate`);
    }
  }
  return names;
});

/** Networks of trusted proxies, separated by commas. */
export const cidrs = z.string().transform((list, context) => {
  const parts = list
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  for (const part of parts) {
    const message = cidrFault(part);
    if (message) context.addIssue({ code: 'custom', message });
  }
  return parts;
});

/** What is wrong with an address or network in CIDR form. */
function cidrFault(part: string): string | undefined {
  const shown = JSON.stringify(part.slice(0, 64));
  const [, address = '', prefix] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(part) ?? [];
  const kind = isIP(address);
  if (kind === 0 || Number(prefix ?? 0) > (kind === 4 ? 32 : 128))
    return `${shown} is not an address or CIDR`;
  if (prefix !== undefined && Number(prefix) === 0) {
    return `${shown} would trust everyone; list the networks of your proxies`;
  }
  return undefined;
}

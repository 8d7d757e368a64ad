import { domainToUnicode } from 'node:url';
import { isMachine, MASK, maskedForms, maskedIpv6, saysSomething } from './masked-forms.js';
import { withoutEndSlashes } from './trim-end.js';

/** What a message mask knows about an operator's machines, in addition to the general patterns. */
export interface OperatorFacts {
  /** Base addresses of nodes and model proxies. */
  addresses: Iterable<string>;
  /** API keys of nodes, and the master key. */
  keys: Iterable<string>;
  /** Nodes' names of models, and ids of deployments. Plain words among them aren't masked. */
  names?: Iterable<string>;
}

/** Masks information about the operator in a text. `renamed` replaces the node's name of the model by the public name. */
export type MessageMask = (text: string, renamed?: { from: string; to: string }) => string;

/** Longest message of a node that is passed to callers. */
export const MAX_ERROR_CHARACTERS = 2_000;
/** How much of a message is read, since masking may shorten it. */
const MAX_READ = 2 * MAX_ERROR_CHARACTERS;
/** Longer words occur only in languages without spaces. */
const LONGEST_WORD = 500;
/** Matches `tools[0].function.name`. */
const PARAM = /^[A-Za-z_][\w.[\]-]{0,99}$/;
/** Several indices in a row may be an address. */
const ADDRESS_IN_PATH = /(?:[.[]\d{1,9}\]?){2}/;
/** Shorter keys are placeholders such as `EMPTY`, and may be words of a message. */
const SHORTEST_KEY = 6;
const MIN_LABEL = 4;

/** Escapes of JSON and URLs for ASCII characters. */
const ESCAPED = /\\u00([2-7][0-9a-f])|%([2-7][0-9a-f])|\\(\/)/gi;
/** Invisible characters, which may split a word. */
const INVISIBLE = /\p{Cf}+/gu;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Hosts with their port and path. */
const HOSTS = /[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*(:\d{1,5}(?!\w)(?:\/[^\s'"`<>(){}[\],;]*)?)?/gu;
/** Names of models, which may have slashes and a tag, with punctuation after them. */
const MODELS = /[\p{L}\p{N}_](?:[\p{L}\p{N}_.:/-]*[\p{L}\p{N}_-])?([.:/]*)/gu;
const PATHS = /(?<![\w.])\/[^\s'"`<>(){}[\],;]*/g;
const NAMED_PORT = /(\bport['"]?(?: is| number)?[\s=:]{1,5}['"]?)(\d{1,5})\b/gi;
const BARE_PORT = /((?:^|[^\w"']):)(\d{1,5})\b/g;
/** A masked address and its port in Python's notation. */
const PORT_OF_PAIR = /(\[…\]['"],\s?)\d{1,5}\b/g;
/** An escaped line break of Python or JSON. A word begins after it, although `n` is a letter. */
const ESCAPED_SPACE = /\\[nrt]/g;
const BOUNDARY = '\u200b';
const QUOTES = '"\'`';

/** The beginning of a text. Drops a word that was cut, which may be part of a secret. */
function beginning(text: string): string {
  if (text.length <= MAX_READ) return text;
  const read = text.slice(0, MAX_READ);
  return read.slice(0, Math.max(read.lastIndexOf(' '), read.lastIndexOf('\n'), MAX_READ - LONGEST_WORD));
}

/** The text on one line, without escapes and characters that hide or split words. */
function readable(text: string): string {
  let plain = beginning(text);
  for (let escaped = ''; escaped !== plain; ) {
    escaped = plain;
    plain = escaped.replace(
      ESCAPED,
      (_, json?: string, url?: string, slash?: string) =>
        slash ?? String.fromCharCode(Number.parseInt((json ?? url)!, 16)),
    );
  }
  return plain.replace(INVISIBLE, '').replace(CONTROL, ' ').replace(ESCAPED_SPACE, `$&${BOUNDARY}`);
}

/** Replaces words that match a pattern. `by` returns the replacement for a word and its captured rest, or undefined to keep both. */
function replaceWords(
  text: string,
  pattern: RegExp,
  by: (word: string, rest: string | undefined, isQuoted: boolean) => string | undefined,
): string {
  return text.replace(pattern, (whole, rest: string | undefined, at: number) => {
    const word = rest ? whole.slice(0, -rest.length) : whole;
    const isQuoted = QUOTES.includes(text[at - 1] ?? ' ') && QUOTES.includes(text[at + word.length] ?? ' ');
    return by(word, rest, isQuoted) ?? whole;
  });
}

const setOf = (texts: Iterable<string>): ReadonlySet<string> =>
  new Set([...texts].filter(Boolean).map((text) => text.toLowerCase()));

/** Names that a machine may use for itself: its host in Unicode or ASCII, with dashes, and its first label if that isn't a plain word. */
function namesOf(host: string): string[] {
  const [label = '', ...rest] = host.split('.');
  const names = [host, domainToUnicode(host)];
  if (rest.length > 0 && label.length >= MIN_LABEL && /[\d-]/.test(label)) names.push(label);
  if (/^[\d.]+$/.test(host)) names.push(host.replaceAll('.', '-'));
  return names;
}

/** The last two labels of a longer host, which other machines share. */
function domainOf(host: string): string | undefined {
  const labels = host.split('.');
  return labels.length > 2 && /[a-z]/i.test(host) ? labels.slice(-2).join('.') : undefined;
}

/** Whether a name isn't a plain word, so that it reveals something about the operator anywhere. */
const isTelling = (name: string): boolean => name.length >= MIN_LABEL && /[\d/:_-]/.test(name);

/** Names of models and deployments to mask, also by the last part of a name with slashes. */
const tellingNames = (names: Iterable<string>): ReadonlySet<string> =>
  setOf([...names].flatMap((name) => [name, name.slice(name.lastIndexOf('/') + 1)]).filter(isTelling));

/** Whether a path begins with a known path. */
function beginsWith(path: string, known: ReadonlySet<string>): boolean {
  for (let end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', end + 1))
    if (known.has(path.slice(0, end))) return true;
  return known.has(path.replace(/[.:?!]{1,9}$/, ''));
}

/**
 * Creates a mask for messages of nodes to callers. It hides URLs, IP addresses, hosts with ports, bearer tokens, files of the machine,
 * and all given hosts, ports, paths, keys and names. All other text is unchanged, in any language. The result is empty if only
 * punctuation is left.
 */
export function createMessageMask({ addresses, keys, names = [] }: OperatorFacts): MessageMask {
  const urls = [...addresses].flatMap((address) => (URL.canParse(address) ? [new URL(address)] : []));
  const hosts = urls.map(({ hostname }) => hostname.replace(/^\[|\]$|\.$/g, ''));
  const machines = setOf(hosts.flatMap(namesOf));
  const domains = setOf(hosts.flatMap((host) => domainOf(host) ?? []));
  const ports = new Set(urls.map(({ port }) => port));
  const paths = setOf(urls.map(({ pathname }) => withoutEndSlashes(pathname).replace(/\/v1$/, '')));
  const secrets = [...new Set(keys)].map(readable).filter((key) => key.length >= SHORTEST_KEY);
  const internal = tellingNames(names);
  const isOperators = (name: string, port: string | undefined): boolean => {
    const host = name.toLowerCase();
    return machines.has(host) || domains.has(host.split('.').slice(-2).join('.')) || isMachine(name, port);
  };
  const maskedPort = (whole: string, before: string, port: string): string =>
    ports.has(port) ? before + MASK : whole;
  return (text, renamed) => {
    let masked = readable(text);
    for (const secret of secrets) masked = masked.replaceAll(secret, MASK);
    masked = maskedForms(masked);
    masked = replaceWords(masked, MODELS, (name, rest = '', isQuoted) => {
      const isOwn = name === renamed?.from && (isQuoted || isTelling(name));
      if (isOwn) return renamed.to + rest;
      return internal.has(name.toLowerCase()) ? MASK + rest : undefined;
    });
    masked = replaceWords(masked, HOSTS, (name, port) => (isOperators(name, port) ? MASK : undefined));
    masked = masked.replace(PATHS, (path) => (beginsWith(path.toLowerCase(), paths) ? MASK : path));
    masked = masked.replace(PORT_OF_PAIR, `$1${MASK}`);
    masked = masked.replace(NAMED_PORT, maskedPort).replace(BARE_PORT, maskedPort);
    masked = maskedIpv6(masked).replaceAll(BOUNDARY, '').trim();
    if (!saysSomething(masked)) return '';
    return masked.length > MAX_ERROR_CHARACTERS ? `${masked.slice(0, MAX_ERROR_CHARACTERS - 1)}…` : masked;
  };
}

/**
 * The member of a request that a node's error names; undefined if it isn't a path, or reveals something about the operator.
 */
export function maskedParam(param: unknown, mask: MessageMask): string | undefined {
  // Python prints `None` for a missing member.
  if (typeof param !== 'string' || param === 'None' || !PARAM.test(param) || ADDRESS_IN_PATH.test(param))
    return undefined;
  return mask(param) === param ? param : undefined;
}

/** Masks by general patterns only, without facts about the operator's machines. */
export const GENERAL_MASK = createMessageMask({ addresses: [], keys: [] });

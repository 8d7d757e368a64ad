import { isIPv6 } from 'node:net';
import { withoutEndSlashes } from './trim-end.js';

/** What a message mask knows of an operator's machines, beside what it recognises by its form. */
export interface OperatorFacts {
  /** Base addresses of nodes and model proxies. */
  addresses: Iterable<string>;
  /** API keys of nodes, and the master key. */
  keys: Iterable<string>;
}

/** Replaces what is the operator's in a text; `renamed` is the node's own name of a model, and its public name. */
export type MessageMask = (text: string, renamed?: { from: string; to: string }) => string;

/** Longest message of a node that callers get. */
export const MAX_MESSAGE_CHARACTERS = 2_000;
/** How much of a message is read: masking may make it shorter. */
const MAX_READ = 2 * MAX_MESSAGE_CHARACTERS;
const MASK = '[…]';
/** `tools[0].function.name`. */
const PARAM = /^[A-Za-z_][\w.[\]-]{0,99}$/;
/** Several indices in a row may be an address. */
const ADDRESS_IN_PATH = /(?:[.[]\d{1,9}\]?){2}/;
/** Shorter keys are placeholders such as `EMPTY`, and may be words of a message. */
const SHORTEST_KEY = 6;
const MIN_LABEL = 4;

const CONTROL = /[\p{Cc}\p{Cf}]+/gu;
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;
const WORD = /[\w-]/;

/** What is masked by its form, wherever it comes from. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z0-9+.-]{0,15}:\/\/(?:\[[0-9a-f:.]{2,45}\])?[^\s'"`<>(){}[\],;]*/gi, MASK],
  [/\b(bearer|basic) {1,5}[^\s'"`,;]+/gi, `$1 ${MASK}`],
  [/\b(?:sk|hf|gsk|nvapi|xai)[-_][A-Za-z0-9_-]{8,}/g, MASK],
  [/(?<!\d)(?<!\d\.)(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)(?::\d{1,5})?(?:\/[^\s'"`<>(){}[\],;]*)?/g, MASK],
  [/\blocalhost:\d{1,5}(?:\/[^\s'"`<>(){}[\],;]*)?/gi, MASK],
  // Files of the machine.
  [
    /(?:\bunix:|(?<![\w.\]]))\/(?:usr|root|home|opt|var|run|mnt|srv|tmp|etc|app|data|models?|workspace|lib)\/[^\s'"`<>(){}[\],;]*/g,
    MASK,
  ],
  [/\b[A-Z]:\\[^\s'"`<>(){}[\],;]*/g, MASK],
];
/** Names with a dot, with the port and path behind them. */
const NAMES = /(?<![\w.-])([\w-]+(?:\.[\w-]+)+)(:\d{1,5}(?!\w)(?:\/[^\s'"`<>(){}[\],;]*)?)?/g;
const INTERNAL = new Set(['internal', 'local', 'localdomain', 'lan', 'svc', 'corp', 'home', 'intranet']);
const LAST_LABEL = /^[a-z]{2,24}$/i;
const NUMBERED = /-[a-z]{0,20}\d|\d[a-z]{0,20}-/i;
/** What may be an IPv6 address, in brackets with its port or bare. */
const IPV6 = /(?<![\w:.])(\[?)([0-9a-f]{0,4}:[0-9a-f:.]{1,60})(?![\w:.])(\](?::\d{1,5})?)?/gi;
const NAMED_PORT = /(\bport['"]?[\s=:]{1,5}['"]?)(\d{1,5})\b/gi;
const BARE_PORT = /((?:^|[^\w"']):)(\d{1,5})\b/g;

/** Whether a name with a dot is a machine's: with a port, below an internal domain, or long and numbered as `gpu-7.eu.acme.cloud`. */
function isMachine(name: string, port: string | undefined): boolean {
  if (port !== undefined) return true;
  const labels = name.split('.');
  const last = labels.at(-1)!;
  if (INTERNAL.has(last.toLowerCase())) return true;
  return labels.length > 2 && LAST_LABEL.test(last) && NUMBERED.test(name);
}

/** Masks an IPv6 address with the brackets and the port around it, and keeps what ends the sentence. */
function ipv6Masked(whole: string, open: string, run: string, close = ''): string {
  let end = run.length;
  while (end > 0 && (run[end - 1] === ':' || run[end - 1] === '.')) end--;
  if (isIPv6(run.slice(0, end))) return `${close ? '' : open}${MASK}${run.slice(end)}`;
  // `::` at the end belongs to the address.
  return isIPv6(run) && SAYS_SOMETHING.test(run) ? MASK : whole;
}

/** Names by which a machine may call itself: its host, and a first label that is no plain word. */
function namesOf(host: string): string[] {
  const [label = '', ...rest] = host.split('.');
  const isTelling = rest.length > 0 && label.length >= MIN_LABEL && /[\d-]/.test(label);
  return isTelling ? [host, label] : [host];
}

/** The domain that a host shares with its siblings. */
const domainsOf = (host: string): string[] =>
  /[a-z]/i.test(host) && host.split('.').length > 2 ? [host.split('.').slice(-2).join('.')] : [];

/** Replaces a text wherever it is a word of its own; `before` says which characters in front of it belong to it. */
function replaceWord(text: string, word: string, by: string, before?: RegExp): string {
  const lower = text.toLowerCase();
  const [where, what] = lower.length === text.length ? [lower, word.toLowerCase()] : [text, word];
  let shown = '';
  let from = 0;
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + what.length)) {
    const end = at + what.length;
    let start = at;
    while (before && start > from && before.test(text[start - 1]!)) start--;
    if (WORD.test(text[start - 1] ?? ' ') || WORD.test(text[end] ?? ' ')) continue;
    shown += text.slice(from, start) + by;
    from = end;
  }
  return shown + text.slice(from);
}

const LABELS = /[\w.-]/;
const unique = (texts: Iterable<string>): string[] =>
  [...new Set(texts)].filter(Boolean).sort((a, b) => b.length - a.length);

/**
 * A mask for what nodes say to callers. It hides URLs, IP addresses, hosts with their ports, bearer tokens, files of the machine,
 * and every host, port, path and key that it was made with. Everything else passes as it is, in any language; nothing does where
 * only signs would be left.
 */
export function createMessageMask({ addresses, keys }: OperatorFacts): MessageMask {
  const urls = [...addresses].flatMap((address) => (URL.canParse(address) ? [new URL(address)] : []));
  const hosts = urls.map(({ hostname }) => hostname.replace(/^\[|\]$/g, ''));
  const names = unique(hosts.flatMap(namesOf));
  const domains = unique(hosts.flatMap(domainsOf));
  const ports = new Set(urls.flatMap(({ port }) => (port === '' ? [] : [port])));
  const paths = unique(urls.map(({ pathname }) => withoutEndSlashes(pathname).replace(/\/v1$/, '')));
  const secrets = unique(keys).filter((key) => key.length >= SHORTEST_KEY);
  const maskedPort = (whole: string, before: string, port: string): string =>
    ports.has(port) ? before + MASK : whole;
  return (text, renamed) => {
    let masked = text.slice(0, MAX_READ).replace(CONTROL, ' ');
    if (renamed && renamed.from !== '') masked = replaceWord(masked, renamed.from, renamed.to);
    for (const secret of secrets) masked = masked.replaceAll(secret, MASK);
    for (const [form, by] of FORMS) masked = masked.replace(form, by);
    masked = masked.replace(NAMES, (whole, name: string, port?: string) =>
      isMachine(name, port) ? MASK : whole,
    );
    for (const domain of domains) masked = replaceWord(masked, domain, MASK, LABELS);
    for (const name of names) masked = replaceWord(masked, name, MASK);
    for (const path of paths) masked = replaceWord(masked, path, MASK);
    masked = masked.replace(NAMED_PORT, maskedPort).replace(BARE_PORT, maskedPort);
    masked = masked.replace(IPV6, ipv6Masked).trim();
    if (!SAYS_SOMETHING.test(masked.replaceAll(MASK, ''))) return '';
    return masked.length > MAX_MESSAGE_CHARACTERS
      ? `${masked.slice(0, MAX_MESSAGE_CHARACTERS - 1)}…`
      : masked;
  };
}

/**
 * The member of a request that a node's error is about; undefined where that isn't a path, or hides something of the operator's.
 */
export function maskedParam(param: unknown, mask: MessageMask): string | undefined {
  // `None` is what Python shows of no member.
  if (typeof param !== 'string' || param === 'None' || !PARAM.test(param) || ADDRESS_IN_PATH.test(param))
    return undefined;
  return mask(param) === param ? param : undefined;
}

/** For who knows nothing of the operator's machines but what is masked by its form. */
export const GENERAL_MASK = createMessageMask({ addresses: [], keys: [] });

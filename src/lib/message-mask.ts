import { isIPv6 } from 'node:net';

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
const ADDRESS_IN_PATH = /(?:[.[]\d+\]?){2}/;
/** Shorter keys are placeholders such as `EMPTY`, and may be words of a message. */
const SHORTEST_KEY = 6;
const MIN_LABEL = 4;

const CONTROL = /[\p{Cc}\p{Cf}]+/gu;
/** Of an address up to here, the rest of the token belongs to it. */
const REST = String.raw`[^\s'"\x60<>(){}[\],;]*`;

const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

/** What is masked wherever it comes from, each with what it is replaced by. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  [new RegExp(String.raw`\b[a-z][a-z0-9+.-]*://(?:\[[0-9a-f:.]+\])?${REST}`, 'gi'), MASK],
  [/\b(bearer|basic) +[^\s'"`,;]+/gi, `$1 ${MASK}`],
  [/\b(?:sk|hf|gsk|nvapi|xai)[-_][A-Za-z0-9_-]{8,}/g, MASK],
  [
    new RegExp(String.raw`(?<!\d)(?<!\d\.)(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)(?::\d{1,5})?(?:/${REST})?`, 'g'),
    MASK,
  ],
  // A host with its port: one that has a dot, and `localhost`.
  [
    new RegExp(String.raw`(?<![\w.-])(?:[a-z0-9-]+(?:\.[a-z0-9-]+)+|localhost):\d{2,5}\b(?:/${REST})?`, 'gi'),
    MASK,
  ],
  [/(?<![\w.-])(?:[a-z0-9-]+\.)+(?:internal|local|localdomain|lan|svc|corp|home|intranet)(?![\w-])/gi, MASK],
  // A long name of a machine; paths to members have no hyphens.
  [
    /(?<![\w.-])(?=(?:[a-z0-9-]+\.)*[a-z0-9]*-[a-z0-9]*\d[a-z0-9-]*\.)(?:[a-z0-9-]{1,63}\.){2,8}[a-z]{2,24}(?![\w-]|\.\w)/gi,
    MASK,
  ],
  // Files of the machine.
  [
    new RegExp(
      String.raw`(?:\bunix:|(?<![\w.\]]))/(?:usr|root|home|opt|var|run|mnt|srv|tmp|etc|app|data|models?|workspace|lib)/${REST}`,
      'g',
    ),
    MASK,
  ],
  [new RegExp(String.raw`\b[A-Z]:\\${REST}`, 'g'), MASK],
];
/** What may be an IPv6 address, in brackets with its port or bare. */
const IPV6 = /(?<![\w:.])(\[?)([0-9a-f]*:[0-9a-f:.]+)(?![\w:.])(\](?::\d{1,5})?)?/gi;

/** Masks an IPv6 address with the brackets and the port around it, and keeps what ends the sentence. */
function ipv6Masked(whole: string, open: string, run: string, close = ''): string {
  const address = run.replace(/[:.]+$/, '');
  if (isIPv6(address)) return `${close ? '' : open}${MASK}${run.slice(address.length)}`;
  // `::` at the end belongs to the address.
  return isIPv6(run) && /\w/.test(run) ? MASK : whole;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
const anyOf = (texts: Iterable<string>): string =>
  [...new Set(texts)]
    .sort((a, b) => b.length - a.length)
    .map(escaped)
    .join('|');

/** Names by which a machine may call itself: its host, and a first label that is no plain word. */
function namesOf(host: string): string[] {
  const [label = '', ...rest] = host.split('.');
  const isTelling = rest.length > 0 && label.length >= MIN_LABEL && /[\d-]/.test(label);
  return isTelling ? [host, label] : [host];
}

/** The domain that a host shares with its siblings. */
const domainsOf = (host: string): string[] =>
  /[a-z]/i.test(host) && host.split('.').length > 2 ? [host.split('.').slice(-2).join('.')] : [];

/**
 * A mask for what nodes say to callers. It hides URLs, IP addresses, hosts with their ports, bearer tokens, files of the machine,
 * and every host, port, path and key that it was made with. Everything else passes as it is, in any
 * language; nothing does where only signs would be left.
 */
export function createMessageMask({ addresses, keys }: OperatorFacts): MessageMask {
  const urls = [...addresses].flatMap((address) => (URL.canParse(address) ? [new URL(address)] : []));
  const hosts = urls.map(({ hostname }) => hostname.replace(/^\[|\]$/g, ''));
  const names = anyOf(hosts.flatMap(namesOf));
  const domains = anyOf(hosts.flatMap(domainsOf));
  const ports = anyOf(urls.flatMap(({ port }) => (port === '' ? [] : [port])));
  const paths = anyOf(
    urls
      .map(({ pathname }) => pathname.replace(/\/+$/, '').replace(/\/v1$/, ''))
      .filter((path) => path.length > 1),
  );
  const secrets = anyOf([...keys].filter((key) => key.length >= SHORTEST_KEY));
  const known: [RegExp, string][] = [];
  if (secrets) known.push([new RegExp(secrets, 'g'), MASK]);
  if (domains)
    known.push([new RegExp(String.raw`(?<![\w-])(?:[\w-]+\.)*(?:${domains})(?![\w-])(?::\d+)?`, 'gi'), MASK]);
  if (names) known.push([new RegExp(String.raw`(?<![\w-])(?:${names})(?![\w-])(?::\d+)?`, 'gi'), MASK]);
  if (paths) known.push([new RegExp(String.raw`(?<!\w)(?:${paths})(?![\w-])${REST}`, 'g'), MASK]);
  if (ports)
    known.push([
      new RegExp(String.raw`(\bport['"]?(?:\s*[=:]\s*|\s+)['"]?|(?<![\w"'])\s?:)(?:${ports})\b`, 'gi'),
      `$1${MASK}`,
    ]);
  return (text, renamed) => {
    let masked = text.slice(0, MAX_READ).replace(CONTROL, ' ');
    if (renamed) masked = withoutOwnName(masked, renamed);
    for (const [form, by] of [...FORMS, ...known]) masked = masked.replace(form, by);
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
  if (typeof param !== 'string' || !PARAM.test(param) || ADDRESS_IN_PATH.test(param)) return undefined;
  return mask(param) === param ? param : undefined;
}

/** The public name of a model in place of the node's own, where that is a word of its own. */
function withoutOwnName(text: string, { from, to }: { from: string; to: string }): string {
  if (from === '' || from === to) return text;
  return text.replace(new RegExp(String.raw`(?<![\w/-])${escaped(from)}(?![\w/-])`, 'g'), () => to);
}

/** For who knows nothing of the operator's machines but what is masked by its form. */
export const GENERAL_MASK = createMessageMask({ addresses: [], keys: [] });

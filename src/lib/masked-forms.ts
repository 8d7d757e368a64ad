import { isIPv6 } from 'node:net';

/** What is shown in place of something that is the operator's. */
export const MASK = '[…]';

/** What is masked by its form, wherever it comes from. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  // URLs, with any password.
  [/\b[a-z][a-z0-9+.-]{0,15}:\/\/(?:[^\s@/]{1,100}@)?(?:\[[0-9a-f:.]{2,45}\])?[^\s'"`<>(){}[\],;]*/gi, MASK],
  [/\b(bearer['"\s:]{1,8})[^\s'"`,;]+/gi, `$1${MASK}`],
  [/\b((?:[Bb]asic|BASIC)\s{1,5})(?=[A-Za-z+/]{0,40}(?:[\d=]|[a-z][A-Z]))[A-Za-z0-9+/=]{8,}/g, `$1${MASK}`],
  [/\b(api[_-]?key|password|secret|access[_-]?token)=[^\s'"`,;&]+/gi, `$1=${MASK}`],
  [/\b(?:sk|hf|gsk|nvapi|xai)[-_](?:(?=[a-z_-]{0,40}[\dA-Z])[A-Za-z0-9_-]{8,}|[A-Za-z0-9_-]{16,})/g, MASK],
  [/(?<!\d)(?<!\d\.)(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)(?::\d{1,5})?(?:\/[^\s'"`<>(){}[\],;]*)?/g, MASK],
  // The names that clouds make of addresses: `ip-10-0-0-5`.
  [/\bip(?:-\d{1,3}){4}\b/gi, MASK],
  [/\blocalhost:\d{1,5}(?:\/[^\s'"`<>(){}[\],;]*)?/gi, MASK],
  // Files of the machine.
  [
    /(?:\bunix:|(?<![\w.\]]))\/(?:usr|root|home|opt|var|run|mnt|srv|tmp|etc|dev|proc|sys|app|data|models?|lib|nfs|scratch|[a-z]{0,20}-?workspace)\/[^\s'"`<>(){}[\],;]*/g,
    MASK,
  ],
  [/\b[A-Z]:\\[^\s'"`<>(){}[\],;]*/g, MASK],
];

/** What may be an IPv6 address, in brackets with its port or bare. */
const IPV6 = /(?<![\w:.])(\[?)([0-9a-f]{0,4}:[0-9a-f:.]{1,60})(?![\w:.])(\](?::\d{1,5})?)?/gi;
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

/** Masks an IPv6 address with the brackets and the port around it, and keeps what ends the sentence. */
function ipv6Masked(whole: string, open: string, run: string, close = ''): string {
  let end = run.length;
  while (end > 0 && (run[end - 1] === ':' || run[end - 1] === '.')) end--;
  if (isIPv6(run.slice(0, end))) return `${close ? '' : open}${MASK}${run.slice(end)}`;
  // `::` at the end belongs to the address.
  return isIPv6(run) && SAYS_SOMETHING.test(run) ? MASK : whole;
}

/** Whether more than masks and punctuation is left of a text. */
export const saysSomething = (masked: string): boolean => SAYS_SOMETHING.test(masked.replaceAll(MASK, ''));

/** Masks URLs, IPv4 addresses, credentials and files of the machine. */
export const maskedForms = (text: string): string =>
  FORMS.reduce((masked, [form, by]) => masked.replace(form, by), text);

/** Masks IPv6 addresses: last, since it would take a port away from its host. */
export const maskedIpv6 = (text: string): string => text.replace(IPV6, ipv6Masked);

const INTERNAL = new Set(['internal', 'local', 'localdomain', 'lan', 'svc', 'corp', 'home', 'intranet']);
const LAST_LABEL = /^[a-z]{2,24}$/i;
const NUMBERED = /-[a-z]{0,20}\d|\d[a-z]{0,20}-/i;
/** Digits behind a word's colon may be a number of something; four are a port, if the word is numbered as machines are. */
const LIKELY_PORT = /^:\d{4,5}\b/;

/**
 * Whether a name is a machine's: with a port, below an internal domain, or long and numbered as `gpu-7.eu.acme.cloud`.
 * `port` is what follows the name, from its colon.
 */
export function isMachine(name: string, port: string | undefined): boolean {
  const labels = name.split('.');
  if (labels.length === 1) return port !== undefined && /\d/.test(name) && LIKELY_PORT.test(port);
  if (port !== undefined) return true;
  const last = labels.at(-1)!;
  if (INTERNAL.has(last.toLowerCase())) return true;
  return labels.length > 2 && LAST_LABEL.test(last) && NUMBERED.test(name);
}

import { isIPv6 } from 'node:net';

/** Replaces information about the operator. */
export const MASK = '[…]';

/** Patterns that are always masked, with their replacements. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  // URLs, with any password.
  [/\b[a-z][a-z0-9+.-]{0,15}:\/\/(?:[^\s@/]{1,100}@)?(?:\[[0-9a-f:.]{2,45}\])?[^\s'"`<>(){}[\],;]*/gi, MASK],
  [/\b(bearer['"\s:]{1,8})[^\s'"`,;]+/gi, `$1${MASK}`],
  [/\b((?:[Bb]asic|BASIC)\s{1,5})(?=[A-Za-z+/]{0,40}(?:[\d=]|[a-z][A-Z]))[A-Za-z0-9+/=]{8,}/g, `$1${MASK}`],
  [/\b(api[_-]?key|password|secret|access[_-]?token)=[^\s'"`,;&]+/gi, `$1=${MASK}`],
  [/\b(?:sk|hf|gsk|nvapi|xai)[-_](?:(?=[a-z_-]{0,40}[\dA-Z])[A-Za-z0-9_-]{8,}|[A-Za-z0-9_-]{16,})/g, MASK],
  [/(?<!\d)(?<!\d\.)(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)(?::\d{1,5})?(?:\/[^\s'"`<>(){}[\],;]*)?/g, MASK],
  // Host names that clouds derive from addresses: `ip-10-0-0-5`.
  [/\bip(?:-\d{1,3}){4}\b/gi, MASK],
  [/\blocalhost:\d{1,5}(?:\/[^\s'"`<>(){}[\],;]*)?/gi, MASK],
  // Files of the machine.
  [
    /(?:\bunix:|(?<![\w.\]]))\/(?:usr|root|home|opt|var|run|mnt|srv|tmp|etc|dev|proc|sys|app|data|models?|lib|nfs|scratch|[a-z]{0,20}-?workspace)\/[^\s'"`<>(){}[\],;]*/g,
    MASK,
  ],
  [/\b[A-Z]:\\[^\s'"`<>(){}[\],;]*/g, MASK],
];

/** Candidates for an IPv6 address, bare or in brackets with a port. */
const IPV6 = /(?<![\w:.])(\[?)([0-9a-f]{0,4}:[0-9a-f:.]{1,60})(?![\w:.])(\](?::\d{1,5})?)?/gi;
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

/** Masks an IPv6 address with its brackets and port, and keeps punctuation after it. */
function ipv6Masked(whole: string, open: string, run: string, close = ''): string {
  let end = run.length;
  while (end > 0 && (run[end - 1] === ':' || run[end - 1] === '.')) end--;
  if (isIPv6(run.slice(0, end))) return `${close ? '' : open}${MASK}${run.slice(end)}`;
  // A trailing `::` belongs to the address.
  return isIPv6(run) && SAYS_SOMETHING.test(run) ? MASK : whole;
}

/** Whether a text has more than masks and punctuation. */
export const saysSomething = (masked: string): boolean => SAYS_SOMETHING.test(masked.replaceAll(MASK, ''));

/** Masks URLs, IPv4 addresses, credentials and files of the machine. */
export const maskedForms = (text: string): string =>
  FORMS.reduce((masked, [form, by]) => masked.replace(form, by), text);

/** Masks IPv6 addresses. Run this last, since it could separate a port from its host. */
export const maskedIpv6 = (text: string): string => text.replace(IPV6, ipv6Masked);

const INTERNAL = new Set(['internal', 'local', 'localdomain', 'lan', 'svc', 'corp', 'home', 'intranet']);
const LAST_LABEL = /^[a-z]{2,24}$/i;
const NUMBERED = /-[a-z]{0,20}\d|\d[a-z]{0,20}-/i;
/** Digits after a colon may be any number; four or five after a numbered name are a port. */
const LIKELY_PORT = /^:\d{4,5}\b/;

/**
 * Whether a name is that of a machine: it has a port, is in an internal domain, or is long and numbered like `gpu-7.eu.acme.cloud`.
 * `port` is the text after the name, from its colon.
 */
export function isMachine(name: string, port: string | undefined): boolean {
  const labels = name.split('.');
  if (labels.length === 1) return port !== undefined && /\d/.test(name) && LIKELY_PORT.test(port);
  if (port !== undefined) return true;
  const last = labels.at(-1)!;
  if (INTERNAL.has(last.toLowerCase())) return true;
  return labels.length > 2 && LAST_LABEL.test(last) && NUMBERED.test(name);
}

/** Longest message of an upstream that is passed on. */
const MAX_LENGTH = 500;

const ADDRESSES: readonly RegExp[] = [
  // Schemes with whatever follows: addresses of nodes, documentation of the proxy, connection strings.
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s'"<>)\]}\\`]*/gi,
  // IPv6, with or without brackets and port; two colons at least and a digit, so that "a: b" and "::" stay.
  /\[?(?<![\w:])(?=[:]*[0-9a-f])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])\]?(?::\d{1,5})?/gi,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g,
  // host:port, and names with dots that end like hosts do.
  /\b[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*:\d{2,5}\b/gi,
  /\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:internal|local|lan|svc|cluster|intranet|corp|home|arpa|com|net|org|io|ai|dev|example|test)\b/gi,
  /\b(?:localhost|host\.docker)\b/gi,
];

const SECRETS: readonly [RegExp, string][] = [
  // Keys of providers and of the proxy.
  [/\b(?:sk|pk|hf|key|token)[-_][\w-]{6,}/gi, '[key]'],
  [/\bBearer\s+\S+/gi, '[key]'],
  // Absolute paths of a file system.
  [/(?:^|(?<=[\s'"(=]))\/(?:[\w.@-]+\/)+[\w.@-]*/g, '[path]'],
  [/\b[A-Z]:\\[^\s'"]+/g, '[path]'],
];

/** The text without addresses of hosts. Quotes and braces stay, so that JSON stays JSON. */
export function cleanAddresses(text: string): string {
  return ADDRESSES.reduce((cleaned, pattern) => cleaned.replace(pattern, '[address]'), text);
}

/** Takes addresses, keys and paths out of an upstream's message, so that it can be shown to a customer. */
export function cleanMessage(message: string): string {
  let text = cleanAddresses(message.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 4 * MAX_LENGTH));
  for (const [pattern, replacement] of SECRETS) text = text.replace(pattern, replacement);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text;
}

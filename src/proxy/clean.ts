/** Takes out of a node's words what would show where it stands: addresses, host names with ports, its model id. */

const HIDDEN = '[internal]';
const URL_LIKE = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>\\`)\]}]+/gi;
const IPV4 = /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.]*\w)/g;
const IPV6 = /\[?(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])\]?(?::\d{1,5})?/gi;
const HOST_PORT = /\b(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z][a-z0-9-]{0,61}:\d{2,5}\b/gi;
const INTERNAL_HOST =
  /\b(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:internal|local|lan|svc|cluster|intranet|corp|home|arpa)\b/gi;
const LOCALHOST = /\blocalhost\b/gi;

/** The text without addresses. Never longer in structure: quotes and braces stay, so JSON stays JSON. */
export function cleanAddresses(text: string): string {
  return text
    .replace(URL_LIKE, HIDDEN)
    .replace(IPV4, HIDDEN)
    .replace(IPV6, (found) => (/[0-9a-f]/i.test(found) && found.includes(':') ? HIDDEN : found))
    .replace(HOST_PORT, HIDDEN)
    .replace(INTERNAL_HOST, HIDDEN)
    .replace(LOCALHOST, HIDDEN);
}

/** Replaces the node's name of the model by the public one, where it stands as a whole word. */
export function publicNames(text: string, upstreamModel: string, publicName: string): string {
  const parts = text.split(upstreamModel);
  return parts.reduce((left, right) => {
    const within = /[\w./-]$/.test(left) || /^[\w/-]/.test(right);
    return left + (within ? upstreamModel : publicName) + right;
  });
}

const MAX_DEPTH = 8;

/** Applies `clean` to every string of a JSON value. */
export function cleanStrings(value: unknown, clean: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return clean(value);
  if (depth >= MAX_DEPTH || typeof value !== 'object' || value === null) {
    return typeof value === 'object' && value !== null ? null : value;
  }
  if (Array.isArray(value)) return value.map((item) => cleanStrings(item, clean, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, cleanStrings(item, clean, depth + 1)]),
  );
}

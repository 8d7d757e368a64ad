import { isIP } from 'node:net';
import { isPrivateAddress, isPublicAddress } from './addresses.js';

/** Why a destination is rejected, for the person who entered it. Doesn't reveal its resolved addresses. */
export class RefusedDestination extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = 'RefusedDestination';
  }
}

const MAX_LENGTH = 2_048;
/** Parsers could disagree on a URL with these: WHATWG drops some of them and converts others. */
const AMBIGUOUS = /[\s\\\p{Cc}\p{Cf}]/u;
/** Names that are only valid inside a network. */
const INTERNAL_NAMES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'onion',
];
const FIRST_FREE_PORT = 1_024;
/** Ports above 1023 that browsers refuse, too: servers of other protocols could mistake a request for their own. */
const BLOCKED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);

export const NOT_PUBLIC = "resolves to an address that isn't on the public internet";

/**
 * Parses a URL that a customer entered, and checks everything that needs no DNS. Always use the result: WHATWG parsing turns every
 * notation of an IP address into one.
 * @throws RefusedDestination
 */
export function parseDestination(
  text: string,
  { allowPrivate, maxLength = MAX_LENGTH }: { allowPrivate: boolean; maxLength?: number },
): URL {
  if (text.length > maxLength) throw new RefusedDestination(`must have at most ${maxLength} characters`);
  if (AMBIGUOUS.test(text)) {
    throw new RefusedDestination('must have no spaces, line breaks, backslashes or invisible characters');
  }
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined || !URL.canParse(text)) {
    throw new RefusedDestination('must be a URL that starts with http:// or https://');
  }
  // WHATWG parsing drops an empty user name.
  if (authority.includes('@')) throw new RefusedDestination('must not contain a username or password');
  const url = new URL(text);
  url.hash = '';
  checkPort(url);
  checkHost(hostOf(url), allowPrivate);
  return url;
}

/** Host name or address of a URL, without the brackets of IPv6 and the dot at the end. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** @throws RefusedDestination if one of the addresses must not be called. */
export function checkAddresses(
  addresses: readonly string[],
  { allowPrivate }: { allowPrivate: boolean },
): void {
  const fits = (address: string): boolean =>
    isPublicAddress(address) || (allowPrivate && isPrivateAddress(address));
  if (!addresses.every(fits)) throw new RefusedDestination(NOT_PUBLIC);
}

function checkPort({ port }: URL): void {
  if (port === '' || port === '80' || port === '443') return;
  if (Number(port) < FIRST_FREE_PORT || BLOCKED_PORTS.has(Number(port))) {
    throw new RefusedDestination('must use port 80, 443, or one from 1024 up that browsers allow');
  }
}

function checkHost(host: string, allowPrivate: boolean): void {
  if (isIP(host)) checkAddresses([host], { allowPrivate });
  if (isIP(host) || allowPrivate) return;
  const internal = INTERNAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
  if (internal || !host.includes('.')) throw new RefusedDestination(NOT_PUBLIC);
}

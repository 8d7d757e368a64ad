import ipaddr from 'ipaddr.js';

/** Public by its range, but refused: Azure's host answers every machine at this address. */
const REFUSED = new Set(['168.63.129.16']);
/** All of IPv6 that was ever assigned to the public (2000::/3). Addresses that embed IPv4 elsewhere are outside. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
/** Ranges that `allowPrivate` permits. Never link-local, where clouds serve the machine's credentials. */
const PRIVATE_RANGES = new Set<string>(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);

/** The canonical form of an address: lower case, shortest, IPv4 inside IPv6 as IPv4. Undefined if the text isn't an address. */
export function plainAddress(text: string): string | undefined {
  // Programs disagree on any other notation.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.process(text).toString();
}

/** Whether an address is on the public internet. False if it isn't an address. */
export function isPublicAddress(text: string): boolean {
  const plain = plainAddress(text);
  if (plain === undefined || REFUSED.has(plain)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_V6);
}

/** Whether an address belongs to this machine or to a private network. */
export function isPrivateAddress(text: string): boolean {
  return plainAddress(text) !== undefined && PRIVATE_RANGES.has(ipaddr.process(text).range());
}

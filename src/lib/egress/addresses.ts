import ipaddr from 'ipaddr.js';

/** Public by range, yet no business of a customer: Azure's host answers every machine on it. */
const REFUSED = new Set(['168.63.129.16']);
/** All of IPv6 that was ever given out for the public (2000::/3); what embeds IPv4 elsewhere is outside of it. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
/** What `allowPrivate` lets pass. Never link-local, where clouds keep the machine's credentials. */
const PRIVATE_RANGES = new Set<string>(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);

/** One spelling for each address: lower case, shortest, IPv4 inside IPv6 as IPv4. Undefined for what is none. */
export function plainAddress(text: string): string | undefined {
  // Programs read any other spelling differently.
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

/** Whether an address is of this machine or of a private network. */
export function isPrivateAddress(text: string): boolean {
  return plainAddress(text) !== undefined && PRIVATE_RANGES.has(ipaddr.process(text).range());
}

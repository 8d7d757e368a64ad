import { isIPv4, isIPv6 } from 'node:net';

const V6_GROUPS = 8;
const GROUP_BITS = 16;
/** Usual prefixes of a subscriber, a household, and a customer of a hosting company. */
const V6_PREFIXES = [64, 56, 48];

/** The eight groups of a valid IPv6 address without a zone. */
function v6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::', 2);
  const parse = (part: string): number[] =>
    part === ''
      ? []
      : part.split(':').flatMap((group) => {
          if (!group.includes('.')) return [Number.parseInt(group, 16)];
          const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
          return [a * 256 + b, c * 256 + d];
        });
  const left = parse(head);
  if (tail === undefined) return left;
  const right = parse(tail);
  return [...left, ...Array<number>(V6_GROUPS - left.length - right.length).fill(0), ...right];
}

/** Normalises an address: IPv4 inside IPv6 (`::ffff:1.2.3.4`) becomes IPv4, and a zone is removed. */
function plainAddress(address: string): string {
  const text = address.split('%', 1)[0] ?? '';
  if (!isIPv6(text)) return text;
  const groups = v6Groups(text);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!mapped) return text;
  const [high = 0, low = 0] = groups.slice(6);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/**
 * The network of an address, for limits: IPv4 /24 (`192.0.2.0/24`) or IPv6 /64 (`2001:db8:0:0::/64`).
 * Text that isn't an address belongs to the network `unknown`.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  if (!isIPv6(plain)) return 'unknown';
  return v6Network(v6Groups(plain), 64);
}

/**
 * All networks for which an address counts, narrowest first: the IPv4 address and its /24, or the IPv6 /64, /56 and /48.
 */
export function networksOf(address: string): readonly string[] {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return [plain, networkOf(plain)];
  if (!isIPv6(plain)) return ['unknown'];
  const groups = v6Groups(plain);
  return V6_PREFIXES.map((prefix) => v6Network(groups, prefix));
}

/** Formats the network of an address's groups: `2001:db8:0:0::/64`. */
function v6Network(groups: readonly number[], prefix: number): string {
  const kept = groups.slice(0, Math.ceil(prefix / GROUP_BITS));
  const rest = kept.length * GROUP_BITS - prefix;
  const last = ((kept.at(-1) ?? 0) >> rest) << rest;
  return `${[...kept.slice(0, -1), last].map((group) => group.toString(16)).join(':')}::/${prefix}`;
}

/** Whether an address belongs to this machine. */
export function isLoopback(address: string): boolean {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return plain.startsWith('127.');
  return (
    isIPv6(plain) &&
    v6Groups(plain)
      .slice(0, -1)
      .every((group) => group === 0) &&
    v6Groups(plain).at(-1) === 1
  );
}

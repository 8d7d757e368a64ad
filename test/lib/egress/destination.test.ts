import { BlockList, isIPv4 } from 'node:net';
import { isPublicAddress } from '../../../src/lib/egress/addresses.js';
import { parseDestination, RefusedDestination } from '../../../src/lib/egress/destination.js';
import { createEgress } from '../../../src/lib/egress/egress.js';
import { anyText } from '../../support/any-text.js';
import fc from '../../support/fast-check.js';
import { NEVER, PRIVATE, REFUSED, TAKEN } from './vectors.js';

const PUBLIC_ANSWER = async () => ['93.184.215.14'];
const strict = createEgress({ allowPrivate: false, resolve: PUBLIC_ANSWER });
const open = createEgress({ allowPrivate: true, resolve: PUBLIC_ANSWER });

/** Independent of the product's code: IANA's registry of special-purpose addresses, and multicast. */
const special = new BlockList();
for (const network of [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15',
  '198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32',
].flatMap((line) => line.split(' '))) {
  const [address, prefix] = network.split('/');
  special.addSubnet(address!, Number(prefix), 'ipv4');
}

const octets = (address: string): number[] => address.split('.').map(Number);
const asNumber = (address: string): number => octets(address).reduce((sum, octet) => sum * 256 + octet, 0);
const hexGroups = (number: number): string =>
  `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;

/** Random addresses, with more special ones than by chance. */
const ipv4 = fc.oneof(
  fc.ipV4(),
  fc
    .tuple(fc.constantFrom('127', '10', '169.254', '192.168', '172.16', '100.64', '0'), fc.ipV4())
    .map(([begin, rest]) => `${begin}.${rest}`.split('.').slice(0, 4).join('.')),
);
/** An address in one of the notations that WHATWG parsing accepts. */
const spelling = (address: string) =>
  fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.array(fc.constantFrom(8, 10, 16), { minLength: 4 }))
    .map(([parts, radixes]) => {
      const all = octets(address);
      const last = all.slice(parts - 1).reduce((sum, octet) => sum * 256 + octet, 0);
      return [...all.slice(0, parts - 1), last]
        .map((part, at) => {
          const prefix = { 8: '0', 10: '', 16: '0x' }[radixes[at]! as 8 | 10 | 16];
          return `${prefix}${part.toString(radixes[at])}`;
        })
        .join('.');
    });

describe('a destination', () => {
  const refused = Object.entries(REFUSED).flatMap(([trick, urls]) =>
    urls.map((url) => [trick, url] as const),
  );

  test('is tested with enough tricks', () => {
    expect(new Set([...refused.map(([, url]) => url), ...TAKEN, ...PRIVATE, ...NEVER]).size).toBeGreaterThan(
      190,
    );
  });

  test.each(refused)('%s: %j is refused with a reason, at save and at delivery', async (_trick, url) => {
    expect(await strict.checkDestination(url)).toMatch(/^(?:must|resolves) .{10,}$/);
    await expect(strict.open(url)).rejects.toThrow(RefusedDestination);
  });

  test.each(TAKEN)('%j is accepted', async (url) => {
    expect(await strict.checkDestination(url)).toBeNull();
    const { dispatcher } = await strict.open(url);
    await dispatcher.destroy();
  });

  test.each(PRIVATE)('%j is accepted only if private addresses are allowed', async (url) => {
    const local = createEgress({ allowPrivate: true, resolve: async () => ['10.1.2.3'] });
    expect(await local.checkDestination(url)).toBeNull();
    expect(await strict.checkDestination(url)).not.toBeNull();
  });

  test.each(NEVER)('%j is refused even if private addresses are allowed', async (url) => {
    expect(await open.checkDestination(url)).not.toBeNull();
  });

  test('is judged by its address in any notation', async () => {
    const written = ipv4.chain((address) => spelling(address).map((text) => ({ address, text })));
    await fc.assert(
      fc.asyncProperty(written, async ({ address, text }) => {
        const verdict = await strict.checkDestination(`https://${text}/`);
        expect(verdict === null).toBe(!special.check(address, 'ipv4'));
      }),
      { numRuns: 1_500 },
    );
  });

  test('is refused if an IPv6 address contains a special IPv4 address', async () => {
    const embeddings: ((address: number) => string)[] = [
      (address) => `::ffff:${hexGroups(address)}`,
      (address) => `::${hexGroups(address)}`,
      (address) => `::ffff:0:${hexGroups(address)}`,
      (address) => `64:ff9b::${hexGroups(address)}`,
      (address) => `64:ff9b:1::${hexGroups(address)}`,
      (address) => `2002:${hexGroups(address)}::1`,
      (address) => `2001:0:${hexGroups(address)}::1`,
      (address) => `2001::${hexGroups(~address >>> 0)}`,
    ];
    await fc.assert(
      fc.asyncProperty(ipv4, fc.constantFrom(...embeddings), async (address, embed) => {
        const text = embed(asNumber(address));
        expect(isPublicAddress(text)).toBe(false);
        expect(await strict.checkDestination(`http://[${text}]/`)).not.toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  test('is either a plain http URL that parses to itself, or refused; nothing else is thrown', () => {
    const pieces = fc.constantFrom(
      ...[
        'http',
        'https',
        ':',
        '/',
        '//',
        '@',
        '\\',
        '[',
        ']',
        '%',
        '.',
        '#',
        '?',
        '127.0.0.1',
        '0x7f.1',
        '::1',
      ],
      ...['example.com', 'localhost', '\n', '。', '8.8.8.8', ':8080', ':22', 'ü'],
    );
    const texts = fc.oneof(
      anyText(60),
      fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
      fc.array(pieces, { maxLength: 6 }).map((parts) => `https://${parts.join('')}`),
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
    );
    let taken = 0;
    fc.assert(
      fc.property(texts, (text) => {
        let url: URL;
        try {
          url = parseDestination(text, { allowPrivate: false });
        } catch (error) {
          expect(error).toBeInstanceOf(RefusedDestination);
          return;
        }
        taken++;
        expect(url.protocol).toMatch(/^https?:$/);
        expect(url.username + url.password + url.hash).toBe('');
        expect(parseDestination(url.href, { allowPrivate: false }).href).toBe(url.href);
        if (isIPv4(url.hostname)) expect(special.check(url.hostname, 'ipv4')).toBe(false);
      }),
      { numRuns: 3_000 },
    );
    expect(taken).toBeGreaterThan(300);
  });
});

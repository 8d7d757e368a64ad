import { isLoopback, networkOf, networksOf } from '../../src/lib/network.js';
import fc from '../support/fast-check.js';

const v4 = fc.tuple(...Array.from({ length: 4 }, () => fc.integer({ min: 0, max: 255 })));
const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
const v6Text = (parts: number[]): string => parts.map((part) => part.toString(16)).join(':');
/** The same address with its longest run of zeros left out, which is the usual notation. */
const compressed = (parts: number[]): string => new URL(`http://[${v6Text(parts)}]`).hostname.slice(1, -1);
const isMapped = (parts: number[]): boolean =>
  parts.slice(0, 5).every((part) => part === 0) && parts[5] === 0xffff;

describe('the network of an address', () => {
  test('is the /24 of IPv4 in any notation', () => {
    fc.assert(
      fc.property(v4, ([a, b, c, d]) => {
        const network = `${a}.${b}.${c}.0/24`;
        expect(networkOf(`${a}.${b}.${c}.${d}`)).toBe(network);
        expect(networkOf(`::ffff:${a}.${b}.${c}.${d}`)).toBe(network);
        expect(networkOf(`::ffff:${v6Text([a! * 256 + b!, c! * 256 + d!])}`)).toBe(network);
      }),
    );
  });

  test('is the /64 of IPv6 in any notation', () => {
    fc.assert(
      fc.property(
        groups,
        fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4, maxLength: 4 }),
        (parts, host) => {
          fc.pre(!isMapped(parts));
          const network = `${v6Text(parts.slice(0, 4))}::/64`;
          const neighbour = [...parts.slice(0, 4), ...host];
          fc.pre(!isMapped(neighbour));
          expect(networkOf(v6Text(parts))).toBe(network);
          expect(networkOf(compressed(parts))).toBe(network);
          expect(networkOf(`${compressed(neighbour).toUpperCase()}%eth0`)).toBe(network);
        },
      ),
    );
  });

  test('differs if the /64 differs', () => {
    fc.assert(
      fc.property(
        groups,
        fc.integer({ min: 0, max: 3 }),
        fc.integer({ min: 1, max: 0xffff }),
        (parts, at, flip) => {
          const other = parts.with(at, parts[at]! ^ flip);
          fc.pre(!isMapped(parts) && !isMapped(other));
          expect(networkOf(v6Text(other))).not.toBe(networkOf(v6Text(parts)));
        },
      ),
    );
  });

  test("is the same for all texts that aren't addresses", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^[\d.]+$/.test(text) && !text.includes(':'));
        expect(networkOf(text)).toBe('unknown');
      }),
    );
    for (const text of ['1.2.3', '1.2.3.4.5', '256.1.1.1', ':::', '1::2::3', 'g::1']) {
      expect(networkOf(text)).toBe('unknown');
    }
  });
});

describe('the networks of an address', () => {
  test('are the IPv4 address and its /24', () => {
    fc.assert(
      fc.property(v4, ([a, b, c, d]) => {
        const address = `${a}.${b}.${c}.${d}`;
        expect(networksOf(address)).toEqual([address, networkOf(address)]);
        expect(networksOf(`::ffff:${address}`)).toEqual([address, networkOf(address)]);
      }),
    );
  });

  test('are the IPv6 /64, /56 and /48, shared with exactly the addresses that have the same prefix', () => {
    fc.assert(
      fc.property(groups, fc.integer({ min: 0, max: 127 }), (parts, bit) => {
        const other = parts.with(bit >> 4, parts[bit >> 4]! ^ (0x8000 >> (bit & 15)));
        fc.pre(!isMapped(parts) && !isMapped(other));
        const own = networksOf(compressed(parts));
        expect(own[0]).toBe(networkOf(v6Text(parts)));
        expect(own.map((network) => network.slice(-3))).toEqual(['/64', '/56', '/48']);
        const shared = networksOf(v6Text(other)).map((network, i) => network === own[i]);
        expect(shared).toEqual([bit >= 64, bit >= 56, bit >= 48]);
      }),
    );
  });

  test("are the same for all texts that aren't addresses", () => {
    expect(networksOf('')).toEqual(['unknown']);
  });
});

describe('loopback', () => {
  test.each(['127.0.0.1', '127.8.9.1', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1'])(
    '%s is',
    (address) => expect(isLoopback(address)).toBe(true),
  );

  test.each([
    '128.0.0.1',
    '10.0.0.1',
    '::',
    '::2',
    '1::1',
    'fe80::1',
    '127.0.0.1.example',
    '',
    '::127.0.0.1',
  ])('%s is not', (address) => expect(isLoopback(address)).toBe(false));
});

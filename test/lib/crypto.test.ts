import { createEnvelope, deriveKey } from '../../src/lib/crypto.js';

const CURRENT = 'a-current-secret-of-more-than-32-bytes!';
const OLD = 'an-older-secret-of-more-than-32-bytes!!';

describe('sealed values', () => {
  const envelope = createEnvelope('virtual-key', CURRENT, OLD);

  test('can be opened only for the same owner, row and field', () => {
    const sealed = envelope.seal('sk-virtual', 'api_key:1:virtual_key');
    expect(envelope.open(sealed, 'api_key:1:virtual_key').toString()).toBe('sk-virtual');
    expect(() => envelope.open(sealed, 'api_key:2:virtual_key')).toThrow();
  });

  test("can't be opened after any single bit was flipped", () => {
    const sealed = envelope.seal('sk-virtual', 'x');
    const [version, id, text] = sealed.split('.') as [string, string, string];
    const body = Buffer.from(text, 'base64url');
    for (let bit = 0; bit < body.length * 8; bit++) {
      const altered = Buffer.from(body);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => envelope.open(`${version}.${id}.${altered.toString('base64url')}`, 'x')).toThrow();
    }
  });

  test('made with the previous key can still be opened, and are reported as not current', () => {
    const sealed = createEnvelope('virtual-key', OLD).seal('old', 'x');
    expect(envelope.open(sealed, 'x').toString()).toBe('old');
    expect(envelope.isCurrent(sealed)).toBe(false);
    expect(envelope.isCurrent(envelope.seal('new', 'x'))).toBe(true);
    expect(() => createEnvelope('virtual-key', CURRENT).open(sealed, 'x')).toThrow('unknown');
  });

  test("of one purpose can't be opened for another", () => {
    const sealed = createEnvelope('data-key', CURRENT).seal('x', 'x');
    expect(() => envelope.open(sealed, 'x')).toThrow();
    expect(deriveKey(CURRENT, 'session').equals(deriveKey(CURRENT, 'data-key'))).toBe(false);
  });
});

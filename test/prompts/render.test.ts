import { placeholders } from '../../src/services/prompts/placeholders.rules.js';
import { render } from '../../src/services/prompts/render.rules.js';
import fc from '../support/fast-check.js';
import { ownTime } from '../support/own-time.js';

/** What a placeholder is, as an expression. */
const ORACLE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;
const MIB = 1_048_576;

const piece = fc.constantFrom(
  ...['{', '}', '{{', '}}', '{{{', ' ', '\n', '\t', '\u00a0', 'a', '_', '9', 'name', '{{ name }}', '{{a}}'],
  ...['{{ 9 }}', '{{ a b }}', '{{__proto__}}', 'ä', '{"json": {"a": 1}}', '\u{1f600}'],
);
const texts = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));

const filled = (content: string, values: Record<string, string>, defaults: Record<string, string> = {}) =>
  render({
    content,
    values: new Map(Object.entries(values)),
    defaults: new Map(Object.entries(defaults)),
    maxBytes: MIB,
  });

describe('rendering', () => {
  test('finds the same placeholders as the regular expression, at the same places', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const expected = [...text.matchAll(ORACLE)].map((match) => ({
          name: match[1],
          start: match.index,
          end: match.index + match[0].length,
        }));
        expect([...placeholders(text)]).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test('inserts each value unchanged, whatever it contains, and changes nothing else', () => {
    fc.assert(
      fc.property(texts, texts, (content, value) => {
        const names = [...content.matchAll(ORACLE)].map((match) => match[1]!);
        const values = new Map(names.map((name) => [name, value]));
        const rendering = render({ content, values, defaults: new Map(), maxBytes: MIB });
        // A function, since a text would have its dollar signs replaced.
        expect(rendering).toEqual({ kind: 'rendered', text: content.replace(ORACLE, () => value) });
      }),
      { numRuns: 2_000 },
    );
  });

  test('prefers a value to a default, and names every variable with neither', () => {
    expect(filled('{{a}} {{b}}', { a: '{{b}}' }, { a: 'x', b: 'y' })).toEqual({
      kind: 'rendered',
      text: '{{b}} y',
    });
    expect(filled('{{z}} {{a}} {{ok}} {{z}}', { ok: '' })).toEqual({ kind: 'missing', names: ['z', 'a'] });
  });

  test.each([
    ['open braces', '{'.repeat(50_000)],
    ['pairs', '{{ '.repeat(16_666)],
    ['unclosed names', '{{a'.repeat(16_666)],
    ['one long run of spaces', `{{${' '.repeat(49_000)}`],
    ['names that never close', `${'{{ a '.repeat(10_000)}`],
    ['braces of both kinds', '{{}}'.repeat(12_500)],
    ['a long name', `{{${'a'.repeat(49_990)}`],
  ])('reads 50,000 characters of %s within 20 ms', (_what, content) => {
    const time = ownTime();
    const times = Array.from({ length: 5 }, () => {
      const start = time.now();
      filled(content, {});
      return time.now() - start;
    });
    time.stop();
    expect(Math.min(...times)).toBeLessThan(20);
  });

  test('stops beyond the limit without building the result', () => {
    const content = '{{ a }}'.repeat(7_000);
    expect(filled(content, { a: 'x'.repeat(149) }).kind).toBe('rendered');
    expect(filled(content, { a: 'x'.repeat(150) }).kind).toBe('too large');
    // Bytes count, not characters.
    expect(filled(content, { a: 'ä'.repeat(75) }).kind).toBe('too large');
  });
});

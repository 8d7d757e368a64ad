import { findMembers, replaceValues } from '../../src/lib/json-scan.js';
import { anyText } from '../support/any-text.js';
import fc from '../support/fast-check.js';

/** JSON text with blanks where JSON allows them, and with `model` sometimes written with escapes. */
function render(value: unknown, blank: () => string, escaped: () => boolean): string {
  const gap = blank();
  if (Array.isArray(value))
    return `[${gap}${value.map((item) => render(item, blank, escaped)).join(`${gap},`)}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, item]) => {
    const spelled = escaped() && name === 'model' ? '"\\u006dod\\u0065l"' : JSON.stringify(name);
    return `${blank()}${spelled}${blank()}:${gap}${render(item, blank, escaped)}${blank()}`;
  });
  return `{${gap}${members.join(',')}}`;
}

const nasty = fc.oneof(
  fc.string(),
  anyText(),
  fc.constantFrom(
    '"model":"x"',
    '{"model":"inner"}',
    '\\"',
    '\\\\',
    '"',
    '\\',
    '}',
    ']',
    '\u{1f600}"\\',
    'a'.repeat(60),
  ),
  // Runs of backslashes before a quote, near the start of a string and far from it.
  fc
    .tuple(fc.string(), fc.nat(70), fc.nat(70), fc.constantFrom('', '"', '",'))
    .map(([text, length, slashes, end]) => `${text}${'x'.repeat(length)}${'\\'.repeat(slashes)}${end}`),
);
const name = fc
  .oneof(nasty, fc.constantFrom('model', 'stream', 'messages'))
  .filter((text) => text !== '__proto__');
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    nasty,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(name, tie('value'), {
    maxKeys: 5,
    noNullPrototype: true,
  }),
}));

describe('top-level members', () => {
  test('are the ones that a parser finds, and replacing one changes nothing else', () => {
    fc.assert(
      fc.property(
        anything.object,
        fc.array(fc.constantFrom('', ' ', '\n', '\t', '\r\n  '), { minLength: 1, maxLength: 7 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
        nasty,
        (raw, blanks, escapes, replacement) => {
          // Normalised by a parser: -0 becomes 0, for example.
          const object = JSON.parse(JSON.stringify(raw)) as Record<string, unknown>;
          let turn = 0;
          const text = render(
            object,
            () => blanks[turn++ % blanks.length]!,
            () => escapes[turn++ % escapes.length]!,
          );
          expect(JSON.parse(text)).toEqual(object);
          const body = Buffer.from(text);
          const members = findMembers(body, ['model']);
          expect(members).toBeDefined();
          expect(members!.length).toBe(Object.hasOwn(object, 'model') ? 1 : 0);
          for (const { valueStart, end } of members!) {
            expect(JSON.parse(body.toString('utf8', valueStart, end))).toEqual(object.model);
          }
          const replaced = replaceValues(body, members!, Buffer.from(JSON.stringify(replacement)));
          const expected = members!.length > 0 ? { ...object, model: replacement } : object;
          expect(JSON.parse(replaced.toString('utf8'))).toEqual(expected);
          const before = members![0] ? body.subarray(0, members![0].valueStart) : body;
          expect(replaced.subarray(0, before.length).equals(before)).toBe(true);
        },
      ),
      { numRuns: 1_500 },
    );
  });

  test('are not found in a body that was cut at any position', () => {
    fc.assert(
      fc.property(
        anything.object,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (object, at) => {
          const body = Buffer.from(JSON.stringify(object));
          expect(findMembers(body.subarray(0, Math.floor(body.length * at)), ['model'])).toBeUndefined();
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('are all found if a name occurs twice', () => {
    const members = findMembers(Buffer.from('{"model":"a","x":{"model":1},"mod\\u0065l":2}'), ['model']);
    expect(members).toHaveLength(2);
  });

  test.each([
    '',
    ' ',
    'x',
    '[]',
    '"model"',
    '{]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1}x',
    '{"a":1}{}',
    '{a:1}',
  ])('are not found in %j', (text) => {
    expect(findMembers(Buffer.from(text), ['model'])).toBeUndefined();
  });
});

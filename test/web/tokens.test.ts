import { readFileSync } from 'node:fs';

const css = readFileSync('web/theme/tokens.css', 'utf8');

function tokensOf(selector: string): Record<string, string> {
  const block = css.slice(css.indexOf(`${selector} {`)).split('}', 1)[0]!;
  return Object.fromEntries(
    [...block.matchAll(/--gw-([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name!, value!]),
  );
}

/** WCAG 2.2. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

const GROUNDS = ['paper', 'surface', 'sunken'];
const TEXTS = ['ink', 'muted', 'accent', 'good', 'warn', 'bad'];
const PAIRS: [string, string, number][] = [
  ...TEXTS.flatMap((text) => GROUNDS.map((ground): [string, string, number] => [text, ground, 4.5])),
  ...['accent', 'good', 'warn', 'bad'].map((name): [string, string, number] => [name, `${name}-soft`, 4.5]),
  ...['accent-soft', 'good-soft', 'warn-soft', 'bad-soft'].map((name): [string, string, number] => [
    'ink',
    name,
    4.5,
  ]),
  ['on-accent', 'accent', 4.5],
  ['line-strong', 'paper', 3],
  ['line-strong', 'surface', 3],
];

describe.each([
  ['light', ':root'],
  ['dark', ':root[data-mantine-color-scheme="dark"]'],
])('the %s colours', (_name, selector) => {
  const tokens = tokensOf(selector);

  test('are the same set', () => {
    expect(Object.keys(tokens).sort()).toEqual(Object.keys(tokensOf(':root')).sort());
    expect(Object.keys(tokens).length).toBeGreaterThan(12);
  });

  test.each(PAIRS)('%s on %s has a contrast of %d at least', (one, other, least) => {
    expect(contrast(tokens[one]!, tokens[other]!)).toBeGreaterThanOrEqual(least);
  });
});

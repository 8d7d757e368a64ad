import { globSync, readFileSync } from 'node:fs';
import { parseSync } from 'vite';
import { attacksOn } from '../support/regex-attacks.js';
import { threadTimeMs } from '../support/thread-time.js';

/** The worst are found on short texts: on long ones they would not end. */
const SIZES = [24, 512, 8 * 1024, 64 * 1024];
/** A search that goes over its text once takes a tenth of this. */
const LIMIT_MS = 10;
const TRIES = 5;

interface Found {
  file: string;
  pattern: string;
  flags: string;
}

/** What is looked at of a piece of source: a literal, a call or a `new`. */
interface SyntaxNode {
  regex?: { pattern: string; flags: string };
  callee?: { name?: string };
  arguments?: { value?: unknown }[];
}

/** Every regular expression in the sources, and where one is made of what can't be read here. */
function expressions(): { found: Found[]; unreadable: string[] } {
  const found: Found[] = [];
  const unreadable: string[] = [];
  for (const file of globSync('src/**/*.ts')) {
    const visit = (node: unknown): void => {
      if (Array.isArray(node)) for (const item of node) visit(item);
      if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
      const { regex, callee, arguments: given } = node as SyntaxNode;
      if (regex) found.push({ file, ...regex });
      if (callee?.name === 'RegExp') {
        const [pattern, flags] = given ?? [];
        if (typeof pattern?.value === 'string') {
          found.push({ file, pattern: pattern.value, flags: String(flags?.value ?? '') });
        } else unreadable.push(file);
      }
      for (const value of Object.values(node)) visit(value);
    };
    visit(parseSync(file, readFileSync(file, 'utf8')).program);
  }
  return { found, unreadable };
}

/** The least that a search of the whole text takes. */
function leastMs(text: string, { pattern, flags }: Found): number {
  const expression = new RegExp(pattern, flags.replace(/[gy]/g, '').concat('g'));
  const search = (): void => void text.replace(expression, '');
  let least = Number.POSITIVE_INFINITY;
  // What is far above the limit is no accident.
  for (let tries = 0; tries < TRIES && least > LIMIT_MS && !(tries > 0 && least > 10 * LIMIT_MS); tries++) {
    const [began, before] = [performance.now(), threadTimeMs()];
    search();
    // A busy machine adds nothing to the time that the thread had.
    least = Math.min(least, threadTimeMs() - before, performance.now() - began);
  }
  return least;
}

/** The first text on which it takes too long. */
function slowText(expression: Found): string | undefined {
  for (const size of SIZES) {
    for (const text of attacksOn(expression.pattern, size)) {
      if (leastMs(text, expression) > LIMIT_MS) return text;
    }
  }
  return undefined;
}

describe('a regular expression of the sources', () => {
  const { found, unreadable } = expressions();

  test('can be read here', () => {
    expect(found.length).toBeGreaterThan(100);
    expect(unreadable).toEqual([]);
  });

  test(`takes no more than ${LIMIT_MS} ms for any text of 64 KiB`, () => {
    const slow = found.flatMap((expression) => {
      const text = slowText(expression);
      return text === undefined
        ? []
        : [`${expression.file}: /${expression.pattern}/ on ${JSON.stringify(text.slice(0, 40))}…`];
    });
    expect(slow).toEqual([]);
  });

  test.each([
    ['a scheme that begins again at each letter', String.raw`\b[a-z][a-z0-9+.-]*:\/\/`],
    ['an end that is looked for from each slash', String.raw`\/+$`],
    ['a beginning without its end', String.raw`\[\[sim\b([^\]]*)\]\]`],
    ['two that take the same', String.raw`^\s*\s*x`],
    ['a group of repetitions', '^(?:a+)+$'],
  ])('that is slow is found: %s', (_what, pattern) => {
    expect(slowText({ file: '', pattern, flags: '' })).toBeDefined();
  });
});

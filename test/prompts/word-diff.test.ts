import { wordDiff } from '../../src/services/prompts/word-diff.js';
import fc from '../support/fast-check.js';
import { threadTimeMs } from '../support/thread-time.js';

const words = fc.constantFrom('a', 'b', 'the', ' ', '  ', '\n', '.', '{{ x }}', 'ä', '😀', 'long-word');
const texts = fc.array(words, { maxLength: 80 }).map((list) => list.join(''));
const without = (kind: string, parts: ReturnType<typeof wordDiff>): string =>
  parts.map((part) => (part.kind === kind ? '' : part.text)).join('');

describe('a diff in words', () => {
  test('leads exactly from one text to the other, and back', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const parts = wordDiff(before, after);
        expect(without('added', parts)).toBe(before);
        expect(without('removed', parts)).toBe(after);
        for (const part of parts) expect(part.text).not.toBe('');
        expect(wordDiff(before, before).every(({ kind }) => kind === 'same')).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('shows only the changed words', () => {
    expect(wordDiff('one two three\nfour', 'one 2 three\nfour')).toEqual([
      { kind: 'same', text: 'one ' },
      { kind: 'removed', text: 'two' },
      { kind: 'added', text: '2' },
      { kind: 'same', text: ' three\nfour' },
    ]);
    expect(wordDiff('a b c', 'a c').filter(({ kind }) => kind !== 'same')).toEqual([
      { kind: 'removed', text: 'b ' },
    ]);
  });

  test('takes bounded time for texts without common words', () => {
    const before = Array.from({ length: 12_000 }, (_, i) => `a${i}`).join(' ');
    const after = Array.from({ length: 12_000 }, (_, i) => `b${i}`).join(' ');
    const start = threadTimeMs();
    const parts = wordDiff(before, after);
    expect(without('added', parts)).toBe(before);
    // Far above the usual time; without a limit it would take minutes.
    expect(threadTimeMs() - start).toBeLessThan(3_000);
  });
});

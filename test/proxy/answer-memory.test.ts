import { AnswerMemory } from '../../src/router/answer-memory.js';
import fc from '../support/fast-check.js';

const KIB = 1024;
const READ_BYTES = 128 * KIB;

describe('the memory for large answers', () => {
  test('stays within its limit, and every answer gets its turn', () => {
    const sharedBytes = 1024 * KIB;
    const answer = fc.record({
      accountId: fc.constantFrom('a', 'b', 'c'),
      bytes: fc.integer({ min: 65 * KIB, max: 2048 * KIB }),
    });
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 30 }), (asked) => {
        const memory = new AnswerMemory(sharedBytes);
        const mostBytes = sharedBytes + READ_BYTES + Math.max(...asked.map(({ bytes }) => bytes));
        const coming = new Set(
          asked.map(({ accountId, bytes }) => {
            const one = { bytes, have: 0, waits: false, share: memory.enter(accountId, goOn) };
            function goOn(): void {
              one.waits = false;
            }
            return one;
          }),
        );
        let usedBytes = 0;
        let uncountedBytes = 0;
        while (coming.size > 0) {
          const reading = [...coming].filter(({ waits }) => !waits);
          if (reading.length === 0) throw new Error('all wait');
          for (const one of reading) {
            one.have = Math.min(one.bytes, one.have + READ_BYTES);
            one.waits = !one.share.grow(one.have);
            usedBytes = Math.max(usedBytes, memory.usedBytes);
            if (one.have < one.bytes) continue;
            coming.delete(one);
            one.share.release();
          }
          const inMemory = [...coming].reduce((sum, { have }) => sum + have, 0);
          uncountedBytes = Math.max(uncountedBytes, inMemory - memory.usedBytes);
        }
        expect(usedBytes).toBeLessThanOrEqual(mostBytes);
        expect(uncountedBytes).toBeLessThanOrEqual(asked.length * READ_BYTES);
        expect(memory.usedBytes).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  test('leaves room for another account, however many answers one has', () => {
    const memory = new AnswerMemory(16 * 1024 * KIB);
    const grows = (accountId: string, bytes: number): boolean =>
      memory.enter(accountId, () => undefined).grow(bytes);
    const greedy = Array.from({ length: 40 }, () => grows('greedy', 1024 * KIB));
    expect(greedy.filter(Boolean).length).toBeLessThan(10);
    expect(grows('other', 3 * 1024 * KIB)).toBe(true);
  });

  test('gives the turn to one account after the other, and skips answers that were given up', () => {
    const memory = new AnswerMemory(0);
    const went: string[] = [];
    const enter = (name: string) => {
      const share = memory.enter(name[0]!, () => went.push(name));
      return { share, reads: share.grow(READ_BYTES) };
    };
    const names = ['a1', 'a2', 'a3', 'b1', 'c1'];
    const answers = new Map(names.map((name) => [name, enter(name)]));
    expect(names.filter((name) => answers.get(name)!.reads)).toEqual(['a1']);
    answers.get('a2')!.share.release();
    for (let name: string | undefined = 'a1'; name; name = went.shift()) {
      expect(answers.get(name)!.share.grow(1024 * KIB)).toBe(true);
      answers.get(name)!.share.release();
      names.push(name);
    }
    expect(names.slice(5)).toEqual(['a1', 'b1', 'c1', 'a3']);
    expect(memory.usedBytes).toBe(0);
  });
});

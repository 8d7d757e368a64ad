import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns, type Work } from '../../src/lib/turns.js';

/** Work of so many pieces that writes down each. */
function* pieces(name: string, count: number, done: string[]): Work<string> {
  for (let i = 1; i <= count; i++) {
    done.push(`${name}${i}`);
    yield;
  }
  return name;
}

describe('work in turns', () => {
  /** Of no length: each piece is a turn. */
  const start = () => ({ turns: new Turns(0), done: [] as string[], ended: [] as string[] });
  const end = (ended: string[]) => (error: unknown, result: string | undefined) => {
    ended.push(result ?? String(error));
  };

  test('is done one after the other for one owner, and in rotation between owners', async () => {
    const { turns, done, ended } = start();
    turns.take('greedy', pieces('a', 3, done), end(ended));
    turns.take('greedy', pieces('b', 2, done), end(ended));
    turns.take('other', pieces('c', 2, done), end(ended));
    expect(done).toEqual([]);
    while (ended.length < 3) await nextTurn();
    expect(done).toEqual(['a1', 'c1', 'a2', 'c2', 'a3', 'b1', 'b2']);
    expect(ended).toEqual(['c', 'a', 'b']);
  });

  test('takes one turn of the event loop at a time, however much waits', async () => {
    const { turns, done, ended } = start();
    for (let i = 0; i < 50; i++) turns.take(`owner ${i}`, pieces('x', 2, done), end(ended));
    let most = 0;
    for (let before = 0; ended.length < 50; before = done.length) {
      await nextTurn();
      most = Math.max(most, done.length - before);
    }
    expect(most).toBe(1);
    expect(done).toHaveLength(100);
  });

  test('goes on in a turn until its time is over', async () => {
    const turns = new Turns(60_000);
    const done: string[] = [];
    turns.take('one', pieces('a', 1_000, done), () => undefined);
    await nextTurn();
    expect(done).toHaveLength(1_000);
  });

  test('that is given up goes no further, and others go on', async () => {
    const { turns, done, ended } = start();
    const giveUp = turns.take('one', pieces('a', 5, done), end(ended));
    turns.take('one', pieces('b', 1, done), end(ended));
    await nextTurn();
    giveUp();
    giveUp();
    while (ended.length < 1) await nextTurn();
    expect(done).toEqual(['a1', 'b1']);
    expect(ended).toEqual(['b']);
  });

  test('tells what it threw, and new work begins after the last has ended', async () => {
    const { turns, done, ended } = start();
    const failing = function* (): Work<string> {
      yield;
      throw new Error('no');
    };
    turns.take('one', failing(), end(ended));
    while (ended.length < 1) await nextTurn();
    turns.take('one', pieces('a', 1, done), end(ended));
    while (ended.length < 2) await nextTurn();
    expect(ended).toEqual(['Error: no', 'a']);
  });

  test('begins at once while the turn of the event loop has time, and is queued beyond', async () => {
    const turns = new Turns(20);
    const done: string[] = [];
    const ended: string[] = [];
    const busy = function* (name: string): Work<string> {
      for (let i = 0; i < 5; i++) {
        const until = performance.now() + 2;
        while (performance.now() < until);
        done.push(name);
        yield;
      }
      return name;
    };
    const giveUps = Array.from({ length: 20 }, (_, i) => turns.begin(`${i}`, busy(`${i}`), end(ended)));
    // Of the 200 ms that it takes.
    expect(done.length).toBeGreaterThanOrEqual(1);
    expect(done.length).toBeLessThanOrEqual(11);
    expect(giveUps[19]).toBeDefined();
    while (ended.length < 20) await nextTurn();
    expect(done).toHaveLength(100);
    // Another turn has time of its own.
    expect(turns.begin('one', pieces('a', 3, done), end(ended))).toBeUndefined();
    expect(ended.at(-1)).toBe('a');
  });

  test('of an owner who has some queued begins behind it', async () => {
    const turns = new Turns(60_000);
    const done: string[] = [];
    const ended: string[] = [];
    turns.take('one', pieces('a', 2, done), end(ended));
    turns.begin('one', pieces('b', 2, done), end(ended));
    turns.begin('other', pieces('c', 2, done), end(ended));
    expect(ended).toEqual(['c']);
    while (ended.length < 3) await nextTurn();
    expect(done).toEqual(['c1', 'c2', 'a1', 'a2', 'b1', 'b2']);
  });
});

import { FairLine, LineFullError } from '../../src/lib/fair-line.js';

const BOUNDS = { atOnce: 2, waiting: 6, waitingPerClient: 3 };

/** Tasks that end when the test says so. */
function rig(bounds = BOUNDS) {
  const line = new FairLine(bounds);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const add = (name: string, most?: number): Promise<void> =>
    line
      .run(
        name.slice(0, 1),
        () => {
          started.push(name);
          return new Promise<void>((resolve) => ends.push(resolve));
        },
        most,
      )
      .catch((error: unknown) => {
        expect(error).toBeInstanceOf(LineFullError);
        refused.push(name);
      });
  const endNext = async (): Promise<void> => {
    ends.shift()!();
    await new Promise(setImmediate);
  };
  const settle = () => new Promise(setImmediate);
  return { line, started, refused, ends, add, endNext, settle };
}

describe('a fair line', () => {
  test('runs so many at once, and lets clients take turns for the rest', async () => {
    const { started, add, endNext } = rig();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2']) void add(name);
    expect(started).toEqual(['a1', 'a2']);
    for (let i = 0; i < 6; i++) await endNext();
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  });

  test('refuses a client beyond its share, unless it may have a longer one', async () => {
    const { refused, add, settle } = rig();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) void add(name);
    await settle();
    expect(refused).toEqual(['a6']);
    void add('a7', 4);
    await settle();
    expect(refused).toEqual(['a6']);
  });

  test('when it is full, the longest line gives its last place to a client with a shorter one', async () => {
    const { started, refused, add, endNext, settle } = rig();
    for (const name of ['x1', 'x2', 'a1', 'a2', 'a3', 'b1', 'b2', 'b3']) void add(name);
    void add('c1');
    await settle();
    expect(refused).toEqual(['a3']);
    void add('c2');
    await settle();
    expect(refused).toEqual(['a3', 'b3']);
    // All lines are of the same length now: nobody has to give way.
    void add('a4');
    await settle();
    expect(refused).toEqual(['a3', 'b3', 'a4']);
    for (let i = 0; i < 6; i++) await endNext();
    expect(started).toEqual(['x1', 'x2', 'a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
  });

  test('passes a place on when a task fails, and is empty afterwards', async () => {
    const { line, started, add, endNext, ends, settle } = rig({ ...BOUNDS, atOnce: 1 });
    const failing = line.run('a', () => Promise.reject(new Error('failed')));
    void add('b1');
    await expect(failing).rejects.toThrow('failed');
    await settle();
    expect(started).toEqual(['b1']);
    await endNext();
    expect(ends).toHaveLength(0);
    void add('c1');
    expect(started).toEqual(['b1', 'c1']);
  });
});

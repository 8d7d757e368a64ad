import {
  FairQueue,
  type FairQueueOptions,
  QueueFullError,
  QueueTimeoutError,
} from '../../../src/lib/fair/fair-queue.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a fair queue', () => {
  test('gives owners turns, even if one came first with many tasks', async () => {
    const queue = new FairQueue({ atOnce: 1, perOwner: 1 });
    const order: string[] = [];
    const ask = (owner: string): Promise<void> =>
      queue.run(owner, async () => {
        order.push(owner);
        await turn();
      });
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(ask));
    expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  });

  test('gives owners turns if several tasks run at once', async () => {
    const queue = new FairQueue({ atOnce: 2, perOwner: 2 });
    const order: string[] = [];
    const leave: (() => void)[] = [];
    for (const owner of 'aaaabbbbcccc') {
      void queue.enter(owner).then((done) => {
        order.push(owner);
        leave.push(done);
      });
    }
    while (order.length < 12) {
      await turn();
      leave.shift()?.();
    }
    expect(order.join('')).toBe('aaabcabcbcbc');
  });

  test("never runs more than one owner's share, or more than all slots", async () => {
    const queue = new FairQueue({ atOnce: 3, perOwner: 2 });
    const running = new Map<string, number>();
    let most = 0;
    let mostOfOne = 0;
    const ask = (owner: string): Promise<void> =>
      queue.run(owner, async () => {
        running.set(owner, (running.get(owner) ?? 0) + 1);
        most = Math.max(
          most,
          [...running.values()].reduce((sum, n) => sum + n),
        );
        mostOfOne = Math.max(mostOfOne, ...running.values());
        await turn();
        running.set(owner, running.get(owner)! - 1);
      });
    await Promise.all([...'aaaaaaaabbbbcc'].map(ask));
    expect([most, mostOfOne]).toEqual([3, 2]);
  });

  test('has a free slot for a new owner, however many owners take all they can', async () => {
    const queue = new FairQueue({ atOnce: 256, perOwner: 8, partOfFree: 1 / 8 });
    const entered = new Map<string, (() => void)[]>();
    const ask = (owner: string): void => {
      void queue.enter(owner).then((leave) => entered.set(owner, [...(entered.get(owner) ?? []), leave]));
    };
    for (let round = 0; round < 8; round++) for (let owner = 0; owner < 60; owner++) ask(`greedy ${owner}`);
    await turn();
    const held = (): number => [...entered.values()].reduce((sum, { length }) => sum + length, 0);
    expect(held()).toBeGreaterThan(200);
    for (let owner = 0; owner < 20; owner++) ask(`new ${owner}`);
    await turn();
    for (let owner = 0; owner < 20; owner++) expect(entered.get(`new ${owner}`)).toHaveLength(1);
    // And none waits forever: as slots become free, all waiting tasks get one.
    for (let given = 0; given < 60 * 8 + 20; ) {
      const leave = [...entered.values()].find((list) => list.length > 0)!.pop()!;
      leave();
      given++;
      await turn();
    }
    expect([held(), queue.owners]).toEqual([0, 0]);
  });

  test('gets back one slot from a task that fails or ends twice', async () => {
    const queue = new FairQueue({ atOnce: 1, perOwner: 1 });
    await expect(queue.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const leave = await queue.enter('a');
    leave();
    leave();
    const held = await queue.enter('a');
    let entered = false;
    const waiting = queue.enter('b').then(() => {
      entered = true;
    });
    await turn();
    expect(entered).toBe(false);
    held();
    await waiting;
  });

  test("doesn't call a task that stopped waiting, and moves the others up", () => {
    const queue = new FairQueue({ atOnce: 1 });
    const started: string[] = [];
    const join = (name: string) =>
      queue.join(
        'a',
        () => started.push(name),
        (error) => expect(error).toBeUndefined(),
      );
    const [first, second, third] = ['first', 'second', 'third'].map(join);
    expect(queue.tryEnter('b')).toBeUndefined();
    second!();
    first!();
    first!();
    second!();
    expect(started).toEqual(['first', 'third']);
    third!();
    const leave = queue.tryEnter('b');
    expect([queue.tryEnter('b'), queue.owners]).toEqual([undefined, 1]);
    leave!();
    expect(queue.owners).toBe(0);
  });

  test('refuses a task if too many wait or if it waited for too long', async () => {
    const queue = new FairQueue({ atOnce: 1, perOwner: 1, waitingPerOwner: 1, patienceMs: 20 });
    const leave = await queue.enter('a');
    const late = queue.enter('a');
    await expect(queue.enter('a')).rejects.toThrow(QueueFullError);
    await expect(late).rejects.toThrow(QueueTimeoutError);
    await expect(queue.enter('b')).rejects.toThrow(QueueTimeoutError);
    expect(queue.owners).toBe(1);
    leave();
    (await queue.enter('a'))();
    expect(queue.owners).toBe(0);
  });
});

const BOUNDS = { atOnce: 2, waiting: 6, waitingPerOwner: 3 };

/** Tasks that end when the test ends them. */
function rig(bounds: FairQueueOptions = BOUNDS) {
  const queue = new FairQueue(bounds);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const add = (name: string, most?: number): Promise<void> =>
    queue
      .run(
        name.slice(0, 1),
        () => {
          started.push(name);
          return new Promise<void>((resolve) => ends.push(resolve));
        },
        most,
      )
      .catch((error: unknown) => {
        expect(error).toBeInstanceOf(QueueFullError);
        refused.push(name);
      });
  const endNext = async (): Promise<void> => {
    ends.shift()!();
    await new Promise(setImmediate);
  };
  const settle = () => new Promise(setImmediate);
  return { queue, started, refused, ends, add, endNext, settle };
}

describe('a fair queue with limited waiting', () => {
  test('runs as many as it has slots, and gives owners turns for the rest', async () => {
    const { started, add, endNext, settle } = rig();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2']) void add(name);
    await settle();
    expect(started).toEqual(['a1', 'a2']);
    for (let i = 0; i < 6; i++) await endNext();
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  });

  test("refuses an owner's task beyond its limit, unless the call allows more", async () => {
    const { refused, add, settle } = rig();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) void add(name);
    await settle();
    expect(refused).toEqual(['a6']);
    void add('a7', 4);
    await settle();
    expect(refused).toEqual(['a6']);
  });

  test('drops the last waiting task of the owner with the most, for an owner with fewer, if it is full', async () => {
    const { started, refused, add, endNext, settle } = rig();
    for (const name of ['x1', 'x2', 'a1', 'a2', 'a3', 'b1', 'b2', 'b3']) void add(name);
    void add('c1');
    await settle();
    expect(refused).toEqual(['a3']);
    void add('c2');
    await settle();
    expect(refused).toEqual(['a3', 'b3']);
    // All owners have the same number of waiting tasks now, so nobody has to give way.
    void add('a4');
    await settle();
    expect(refused).toEqual(['a3', 'b3', 'a4']);
    for (let i = 0; i < 6; i++) await endNext();
    expect(started).toEqual(['x1', 'x2', 'a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
  });

  test('gives owners who are behind one turn in four while others wait', async () => {
    const { started, add, endNext, settle } = rig({
      atOnce: 1,
      waiting: 100,
      waitingPerOwner: 100,
      isBehind: (owner: string) => owner === 'x' || owner === 'y',
    });
    for (const name of ['x1', 'x2', 'y1', 'x3', 'a1', 'a2', 'b1', 'a3', 'b2', 'a4', 'a5']) void add(name);
    await settle();
    for (let i = 0; i < 10; i++) await endNext();
    // One of them starts at once, while nobody else waits.
    expect(started).toEqual(['x1', 'a1', 'b1', 'a2', 'x2', 'b2', 'a3', 'a4', 'y1', 'a5', 'x3']);
  });

  test('passes a slot on when a task fails, and is empty afterwards', async () => {
    const { queue, started, add, endNext, ends, settle } = rig({ ...BOUNDS, atOnce: 1 });
    const failing = queue.run('a', () => Promise.reject(new Error('failed')));
    void add('b1');
    await expect(failing).rejects.toThrow('failed');
    await settle();
    expect(started).toEqual(['b1']);
    await endNext();
    expect(ends).toHaveLength(0);
    void add('c1');
    await settle();
    expect(started).toEqual(['b1', 'c1']);
  });
});

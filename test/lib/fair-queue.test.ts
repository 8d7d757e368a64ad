import { FairQueue, OwnerQueueFullError, QueueTimeoutError } from '../../src/lib/fair-queue.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a fair queue', () => {
  test('owners take turns, whoever came first with much', async () => {
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

  test('owners take turns also where several run at once', async () => {
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

  test('one owner never runs more than their share, all together never more than there is', async () => {
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

  test('who fails, or ends twice, gives one place back', async () => {
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

  test('who would wait in too long a line, or for too long, is refused', async () => {
    const queue = new FairQueue({ atOnce: 1, perOwner: 1, waitingPerOwner: 1, patienceMs: 20 });
    const leave = await queue.enter('a');
    const late = queue.enter('a');
    await expect(queue.enter('a')).rejects.toThrow(OwnerQueueFullError);
    await expect(late).rejects.toThrow(QueueTimeoutError);
    await expect(queue.enter('b')).rejects.toThrow(QueueTimeoutError);
    expect(queue.owners).toBe(1);
    leave();
    (await queue.enter('a'))();
    expect(queue.owners).toBe(0);
  });
});

import type { Command, RedisNode } from '../../../src/inference/limits/redis-node.js';
import { SlotOrder } from '../../../src/inference/limits/redis-slot-order.js';

/** A node whose answers the test decides, one command at a time. */
class ScriptedNode {
  readonly taken: string[] = [];
  #waiting: (() => void)[] = [];

  constructor(
    readonly address: string,
    private readonly answer: (asking: boolean, nth: number) => string | undefined,
  ) {}

  evaluate({ args }: Command, asking = false): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        const error = this.answer(asking, this.taken.length);
        if (error) return reject(new Error(error));
        this.taken.push(String(args[0]));
        resolve(args[0]);
      });
    });
  }

  /** Answers what is waiting, at most so many. */
  async respond(most = Number.POSITIVE_INFINITY): Promise<number> {
    const some = this.#waiting.splice(0, most);
    for (const respond of some) respond();
    await new Promise((resolve) => setImmediate(resolve));
    return some.length;
  }
}

describe('the scripts of a slot', () => {
  const command = (arg: string): Command => ({ name: 'turn', keys: ['gw:{a}:balance'], args: [arg] });

  test.each([
    ['moved', 'MOVED 1 h:2', 2],
    ['is moving', 'ASK 1 h:2', 2],
    ['is moving, and some keys have gone', 'TRYAGAIN Multiple keys request during rehashing of slot', 1],
  ])('keep their order while it %s', async (_name, error, end) => {
    let isWhole = false;
    // It takes the first two.
    const from = new ScriptedNode('h:1', (_asking, nth) => (nth < 2 || isWhole ? undefined : error));
    const to = new ScriptedNode('h:2', (asking) =>
      asking || error.startsWith('MOVED') ? undefined : 'MOVED 1 h:1',
    );
    const nodes = new Map([from, to].map((node) => [node.address, node as unknown as RedisNode]));
    let owner = nodes.get('h:1')!;
    const order = new SlotOrder({
      ownerOf: () => owner,
      nodeAt: async (address) => nodes.get(address)!,
      moved(_slot, node) {
        owner = node;
      },
    });
    const answers = ['1', '2', '3', '4'].map((arg) => order.evaluate(command(arg)));
    // The third gets the redirect. A fifth arrives before the fourth does.
    await from.respond(3);
    answers.push(order.evaluate(command('5')));
    await from.respond();
    isWhole = end === 1;
    // The third arrives where it belongs now, and while the others are on their way there is a sixth.
    while (!from.taken.concat(to.taken).includes('3')) await Promise.all([from.respond(), to.respond()]);
    answers.push(order.evaluate(command('6')));
    let over = false;
    const all = Promise.all(answers).finally(() => {
      over = true;
    });
    while (!over) await Promise.all([from.respond(), to.respond()]);
    const numbers = ['1', '2', '3', '4', '5', '6'];
    expect(await all).toEqual(numbers);
    expect([...from.taken, ...to.taken]).toEqual(numbers);
  });

  test('are rejected if they fail for another reason, and the next one is sent', async () => {
    let error: string | undefined = 'CLUSTERDOWN The cluster is down';
    const node = new ScriptedNode('h:1', () => error);
    const lone = node as unknown as RedisNode;
    const order = new SlotOrder({ ownerOf: () => lone, nodeAt: async () => lone, moved: () => undefined });
    const failing = [order.evaluate(command('1')), order.evaluate(command('2'))];
    const results = Promise.allSettled(failing);
    await node.respond();
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    error = undefined;
    const next = order.evaluate(command('3'));
    await node.respond();
    expect(await next).toBe('3');
  });
});

import { PlatformQueue, type Ticket } from '../../../src/gateway/platform-proxy/platform-queue.js';

describe('the connections to the platform', () => {
  const CONNECTIONS = 4;
  const started: string[] = [];
  const tickets = new Map<string, Ticket>();
  let queue: PlatformQueue;
  beforeEach(() => {
    started.length = 0;
    tickets.clear();
    queue = new PlatformQueue({
      platformConnections: CONNECTIONS,
      passedAtOncePerClient: 3,
      passedPerClient: 100,
    });
  });
  /** `a2` is the second request of client a. */
  const ask = (...names: string[]): void => {
    for (const name of names) {
      const ticket = queue.enter(name.slice(0, 1))!;
      tickets.set(name, ticket);
      ticket.start(() => started.push(name));
    }
  };
  const finish = (name: string): void => tickets.get(name)!.finish();

  test('are never all taken by one client: the next one finds some', () => {
    ask('a1', 'a2', 'a3', 'b1', 'b2', 'c1');
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  test('when all are taken, go first to who has none', () => {
    ask('a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1');
    started.length = 0;
    finish('a1');
    expect(started).toEqual(['d1']);
  });

  test('go to clients in turns as they become free, and none is lost', () => {
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'c1', 'c2'];
    ask(...all);
    for (let done = 0; done < all.length; done++) finish(started[done]!);
    expect([...started].sort()).toEqual(all);
    expect(started.indexOf('c2')).toBeLessThan(started.indexOf('a4'));
    // All are free again.
    ask('e1', 'f1', 'g1', 'h1');
    expect(started.slice(-4)).toEqual(['e1', 'f1', 'g1', 'h1']);
  });

  test('are not given to who has left the line', () => {
    ask('a1', 'a2', 'a3', 'a4');
    tickets.get('a3')!.leave();
    finish('a1');
    expect(started).toEqual(['a1', 'a2', 'a4']);
  });
});

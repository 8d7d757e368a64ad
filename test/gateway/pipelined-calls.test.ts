import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { open, requestText, statusesOf } from '../hostile/raw.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, startTestEdge, type TestEdge, type TestKey, usageOf } from '../support/edge.js';
import {
  chat,
  DONE_EVENT,
  delta,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
  usageEvent,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

describe('calls that are pipelined on one connection', () => {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  let edge: TestEdge;
  let caller: TestKey;
  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
  });
  beforeEach(async () => {
    edge = await startTestEdge(db, { upstreamUrl: upstream.url });
    caller = await createTestKey(db);
  });
  afterEach(() => edge.close());
  afterAll(async () => {
    await upstream.close();
    await db.close();
  });

  /** A call that says `name`. */
  function call(name: string, headers: string[] = [], fields: object = {}): string {
    const messages = [{ role: 'user', content: name }];
    const body = JSON.stringify({ model: 'gateway/fast', messages, ...fields });
    const all = [`authorization: Bearer ${caller.key}`, `content-length: ${body.length}`, ...headers];
    return requestText('POST /v1/chat/completions', all, body);
  }

  interface Asked {
    messages: [{ content: string }];
    stream?: boolean;
    max_tokens?: number;
  }

  /** Holds each call until its name is released; the answer repeats the name behind so many bytes as it may have tokens. */
  function held(): (name: string) => void {
    const gates = new Map<string, PromiseWithResolvers<void>>();
    const gate = (name: string): PromiseWithResolvers<void> => {
      if (!gates.has(name)) gates.set(name, Promise.withResolvers());
      return gates.get(name)!;
    };
    upstream.seen.length = 0;
    upstream.answer(async (request, response) => {
      const asked = JSON.parse(request.body) as Asked;
      const name = asked.messages[0].content;
      await gate(name).promise;
      const content = `${'x'.repeat(asked.max_tokens ?? 0)} reply ${name}`;
      if (asked.stream) {
        const deltas = (content.match(/.{1,1000}/g) ?? []).map(delta);
        await stream([...deltas, usageEvent(9, 9), DONE_EVENT])(request, response);
        return;
      }
      const message = { role: 'assistant', content };
      chat({ choices: [{ index: 0, message, finish_reason: 'stop' }] })(request, response);
    });
    return (name) => gate(name).resolve();
  }

  /** Sends bytes on a connection of its own and collects what comes until it closes. */
  function connection(bytes: string): {
    text: () => string;
    write: (more: string) => void;
    closed: Promise<void>;
    socket: Socket;
  } {
    const socket = open(edge.url);
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    socket.write(bytes);
    const closed = new Promise<void>((done) => socket.once('close', () => done()));
    return { text: () => text, write: (more) => socket.write(more), closed, socket };
  }

  const answersIn = (text: string): string[] => [...text.matchAll(/reply (\w+)/g)].map(([, name]) => name!);
  const charged = async (): Promise<number> => {
    await edge.settled();
    return (await usageOf(db, caller.accountId)).filter(({ status }) => status === 'success').length;
  };

  test('all arrive while the edge stops, and the last one closes the connection', async () => {
    const release = held();
    const { text, write, closed } = connection(call('a') + call('b'));
    await until(() => upstream.seen.length === 2);
    const stopped = edge.edge.close(10_000);
    // One that comes after the stop has begun.
    write(call('c'));
    await until(() => upstream.seen.length === 3);
    for (const name of ['c', 'b', 'a']) release(name);
    await closed;
    expect(answersIn(text())).toEqual(['a', 'b', 'c']);
    expect(text().match(/connection: close/gi)).toHaveLength(1);
    await stopped;
    expect(await charged()).toBe(3);
  });

  test('are not begun when their client leaves while they wait for the balance of the one before', async () => {
    held();
    await edge.close();
    // The second one still waits when its client leaves, however late that is.
    edge = await startTestEdge(db, { upstreamUrl: upstream.url, patience: { redisMs: 50, queueMs: 60_000 } });
    caller = await createTestKey(db, { balance: '0.002' });
    // The first holds nearly all of the balance.
    const { socket } = connection(
      call('a', [], { max_tokens: 6_000 }) + call('b', [], { max_tokens: 6_000 }),
    );
    await until(() => upstream.seen.length === 1);
    socket.destroy();
    const waits = edge.registry.getSingleMetric('gateway_admission_wait_seconds')!;
    await until(async () => (await waits.get()).values.some(({ labels }) => labels.outcome === 'gone'));
    await edge.settled();
    expect(upstream.seen).toHaveLength(1);
    expect((await usageOf(db, caller.accountId)).map(({ http_status }) => http_status)).toEqual([499]);
  });

  test("behind one whose answer is the connection's last are not begun", async () => {
    const release = held();
    release('before');
    release('after');
    // With its key in memory a call is begun at once.
    const first = connection(call('before', ['connection: close']));
    await first.closed;
    const faulty = call('faulty', ['host: other']);
    const { text, closed } = connection(faulty + call('after'));
    await closed;
    expect(statusesOf(text())).toEqual([400]);
    expect(upstream.seen).toHaveLength(1);
    expect(await charged()).toBe(1);
  });

  test.each([
    [
      "the client's own end of the connection",
      () => call('a', ['connection: close']) + call('after'),
      ['a'],
      [200],
    ],
    ['what is not HTTP', () => `${call('a')}${call('b')}no HTTP\r\n\r\n`, ['a', 'b'], [200, 200, 400]],
  ])('are answered before %s', async (_what, bytes, names, statuses) => {
    const release = held();
    const { text, write, closed } = connection(bytes());
    await until(() => upstream.seen.length === names.length);
    write('more of it');
    for (const name of names.toReversed()) release(name);
    await closed;
    expect(answersIn(text())).toEqual(names);
    expect(statusesOf(text())).toEqual(statuses);
    expect(await charged()).toBe(names.length);
  });

  test('are answered before a body that is too large, however long they take', async () => {
    const release = held();
    const large = requestText('POST /v1/chat/completions', [
      `authorization: Bearer ${caller.key}`,
      'content-length: 999999999',
    ]);
    const { text, socket } = connection(`${call('a')}${large}{"model":`);
    await until(() => upstream.seen.length === 1);
    // Not a wait for a condition: longer than a refused body may linger.
    await delay(2_500);
    release('a');
    await until(() => statusesOf(text()).length === 2, { what: 'both answers' });
    socket.destroy();
    expect(answersIn(text())).toEqual(['a']);
    expect(statusesOf(text())).toEqual([200, 413]);
    expect(await charged()).toBe(1);
  });

  describe('when readers may stall for two seconds', () => {
    const STALL_MS = 2_000;
    const LONGER_MS = 1.25 * STALL_MS;
    beforeEach(async () => {
      await edge.close();
      edge = await startTestEdge(db, {
        upstreamUrl: upstream.url,
        bounds: { stalledReaderMs: STALL_MS, checkIntervalMs: 100 },
      });
    });

    test('a stream waits for longer behind another answer', async () => {
      const release = held();
      const streamed = call('b', [], { stream: true, max_tokens: 500_000 });
      const { text, closed } = connection(call('a') + streamed + call('c', ['connection: close']));
      await until(() => upstream.seen.length === 3);
      release('b');
      release('c');
      // Not a wait for a condition: longer than a reader may stall.
      await delay(LONGER_MS);
      release('a');
      await closed;
      expect(answersIn(text())).toEqual(['a', 'b', 'c']);
      expect(text().includes(DONE_EVENT)).toBe(true);
      expect(await charged()).toBe(3);
    });

    test('a call takes longer behind an answer that was read late', async () => {
      const release = held();
      release('a');
      const large = call('a', [], { max_tokens: 8_000_000 });
      const { text, socket, closed } = connection(large + call('b', ['connection: close']));
      socket.pause();
      await until(async () => (await charged()) === 1);
      socket.resume();
      await until(() => text().includes('reply a'));
      // Not a wait for a condition, either.
      await delay(LONGER_MS);
      release('b');
      await closed;
      expect(answersIn(text())).toEqual(['a', 'b']);
      expect(await charged()).toBe(2);
    });
  });
});

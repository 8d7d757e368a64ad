import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { FrameWriter } from '../../../src/inference/limits/machine/frame-writer.js';
import { type FrameReader, readFrames } from '../../../src/inference/limits/machine/frames.js';
import { newId } from '../../../src/lib/ids.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { testClock } from '../../support/clock.js';
import fc from '../../support/fast-check.js';
import {
  exhaust,
  Ledger,
  type LimitsEdge,
  type LimitsEdgeOptions,
  limitsEdge,
  takingOver,
  UNIT,
} from '../../support/limits.js';
import { createTestMachine, type TestLink, type TestMachine } from '../../support/machine.js';
import { until } from '../../support/until.js';

const FLOOR = DOLLAR / 1000n;
const NOON = Date.UTC(2026, 10, 21, 12);

/** Decision 0170: one process counts for all edges of a machine. */
describe('edges of one machine', () => {
  let machine: TestMachine;
  let links: TestLink[];
  let edges: LimitsEdge[];
  let ids: { accountId: string; keyId: string };
  const patience = { redisMs: 0, queueMs: 20 };

  async function start(count: number, ledger: Ledger, options: LimitsEdgeOptions = {}, patienceMs?: number) {
    machine = createTestMachine({
      ...(options.clock && { clock: options.clock }),
      ...(patienceMs && { patienceMs }),
    });
    links = [];
    edges = [];
    ids = { accountId: newId(), keyId: newId() };
    for (let nth = 0; nth < count; nth++) await startAnother(ledger, options);
    return edges;
  }
  async function startAnother(ledger: Ledger, options: LimitsEdgeOptions = {}): Promise<LimitsEdge> {
    const link = await machine.join();
    links.push(link);
    const edge = await limitsEdge(ledger, { ...ids, patience, ...options, counter: link });
    edges.push(edge);
    return edge;
  }
  afterEach(async () => {
    for (const edge of edges) await edge.limits.stop();
    machine.counter.stop();
  });
  const open = () => machine.counter.open(ids.accountId);
  const refusal = (asked: Promise<unknown>) =>
    asked.then(
      () => 'admitted',
      ({ code }: { code: string }) => code,
    );

  test('admit exactly what the plan allows in a minute, however calls are spread', async () => {
    const clock = testClock(NOON);
    await start(3, new Ledger(DOLLAR), { requestsPerMinute: 20, clock });
    const asked = Array.from({ length: 60 }, (_, nth) => refusal(edges[nth % 3]!.admit(1)));
    const outcomes = await Promise.all(asked);
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(20);
    expect(outcomes.filter((outcome) => outcome === 'rate_limit_exceeded')).toHaveLength(40);
    clock.advance(60_000);
    const { rate } = await edges[2]!.admit(1);
    expect(rate).toMatchObject({ limit: 20, remaining: 19 });
  });

  test('spend a balance once, and a daily cap once', async () => {
    const ledger = new Ledger(FLOOR + 10n * UNIT);
    await start(2, ledger);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, nth) => refusal(edges[nth % 2]!.admit(3))),
    );
    // 3 + 3 + 3 leave 1 above the floor, so a fourth is admitted; the call after that waits in vain.
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(4);
    expect(outcomes.filter((outcome) => outcome === 'insufficient_credits')).toHaveLength(36);
  });

  test('wait for a hold of the other edge to settle', async () => {
    const [one, other] = await start(2, new Ledger(FLOOR), { patience: { redisMs: 0, queueMs: 5_000 } });
    const first = await one!.admit(5);
    const second = other!.admit(5);
    one!.settle(first, 0n);
    await expect(second).resolves.toMatchObject({ held: true });
  });

  describe('when one is killed', () => {
    beforeEach(() => {
      jest.useFakeTimers({
        doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'],
      });
    });
    afterEach(() => {
      jest.useRealTimers();
    });
    const NOTHING = { holds: 0n, charges: 0n, leased: 0n };
    const sum = () => Object.values(open()).reduce((total, amount) => total + amount);

    /** Kills the first of two, which has charged 100 units, of which the other knows, and 10 more, of which it doesn't. */
    async function kill(): Promise<string> {
      const [one] = await start(2, new Ledger(DOLLAR));
      const [first, second] = [await one!.admit(100), await one!.admit(10)];
      one!.settle(first, first.hold);
      // So often an edge tells what it has done without asking.
      jest.advanceTimersByTime(250);
      await turnsUntil(() => open().charges === 100n * UNIT);
      one!.settle(second, second.hold);
      const left = open();
      links[0]!.die();
      await turnsUntil(() => links[1]!.edges === 1);
      expect(open()).toEqual(left);
      return one!.identity.id;
    }
    /** Time passes, after all that was said is heard. */
    async function pass(seconds: number): Promise<void> {
      await turns();
      jest.advanceTimersByTime(seconds * 1_000);
      await turns();
    }

    test('keep everything it had open until its spool is committed: it may have recorded calls that it had not reported', async () => {
      const id = await kill();
      const left = open();
      expect(sum()).toBeGreaterThanOrEqual(110n * UNIT);
      await pass(60);
      expect(open()).toEqual(left);
      edges[1]!.identity.replaced([id]);
      await pass(9);
      expect(open()).toEqual(left);
      await pass(1);
      expect(open()).toEqual(NOTHING);
    });

    test('keep it for as long as one of them has its spool and can not commit it', async () => {
      const id = await kill();
      const left = open();
      for (let time = 0; time < 10; time++) {
        await pass(60);
        edges[1]!.identity.found([id]);
      }
      expect(open()).toEqual(left);
      edges[1]!.identity.replaced([id]);
      edges[1]!.identity.found([id]);
      await pass(10);
      expect(open()).toEqual(NOTHING);
    });

    test.each(['nobody finds', 'is lost after it was found'])(
      'keep it for two minutes where its spool %s',
      async (what) => {
        const id = await kill();
        const left = open();
        await pass(119);
        if (what !== 'nobody finds') {
          edges[1]!.identity.found([id]);
          await pass(119);
        }
        expect(open()).toEqual(left);
        await pass(1);
        expect(open()).toEqual(NOTHING);
      },
    );
  });

  test.each([
    { calls: 100, perMinute: 1_000_000, isLeased: true },
    { calls: 10, perMinute: 30, isLeased: false },
  ])(
    'spend a balance once where one is killed before it tells what $calls calls have cost (leased: $isLeased)',
    async ({ calls, perMinute, isLeased }) => {
      const left = 5 + calls / 2;
      const ledger = new Ledger(FLOOR + BigInt(calls + left) * UNIT);
      const [one, other] = await start(2, ledger, { requestsPerMinute: perMinute });
      const admitted = await Promise.all(Array.from({ length: calls }, () => one!.admit(1)));
      expect(open().leased > 0n).toBe(isLeased);
      for (const admission of admitted) one!.settle(admission, admission.hold);
      links[0]!.die();
      await until(() => links[1]!.edges === 1);
      const [more, why] = await exhaust(other!);
      expect(why).toBe('insufficient_credits');
      // A call beyond what is left is allowed where any is left.
      expect(more).toBeLessThanOrEqual(left + 1);
    },
  );

  test('keep nothing of one that stops in order, whatever it was not answered', async () => {
    const [one, other] = await start(2, new Ledger(FLOOR + 10n * UNIT), {}, 50);
    await one!.admit(1).then((admission) => one!.settle(admission, 0n));
    links[0]!.freeze();
    expect(await refusal(one!.admit(9))).toBe('service_unavailable');
    const stopped = one!.limits.stop();
    links[0]!.thaw();
    await stopped;
    await until(() => links[1]!.edges === 1);
    expect(await exhaust(other!)).toEqual([11, 'insufficient_credits']);
  });

  test('count what one takes over of a dead process until it is committed', async () => {
    const ledger = new Ledger(FLOOR + 10n * UNIT);
    const [one, other] = await start(2, ledger, { dailyLimit: 10n * UNIT });
    const takeOver = takingOver(one!, ledger);
    const commits = [takeOver(10n * UNIT), takeOver(UNIT)];
    await until(() => open().charges === 11n * UNIT);
    expect(await refusal(other!.admit(1))).toBe('insufficient_credits');
    commits[1]!();
    await until(() => open().charges === 10n * UNIT);
    ledger.balance += DOLLAR;
    ledger.seq++;
    await other!.readAgain();
    expect(await refusal(other!.admit(1))).toBe('daily_cap_exceeded');
    commits[0]!();
    await until(() => open().charges === 0n);
    expect(await refusal(other!.admit(1))).toBe('daily_cap_exceeded');
  });

  test('admit nothing while the counting process is silent, and go on as if nothing had been', async () => {
    const ledger = new Ledger(FLOOR + 10n * UNIT);
    const [one, other] = await start(2, ledger, {}, 50);
    await one!.admit(1);
    links[0]!.freeze();
    expect(await refusal(one!.admit(9))).toBe('service_unavailable');
    expect(links[0]!.mayAdmit()).toBe(false);
    // At once: nobody waits behind a call that nobody answers.
    expect(await refusal(one!.admit(1))).toBe('service_unavailable');
    expect(await refusal(other!.admit(1))).toBe('admitted');
    links[0]!.thaw();
    await until(() => links[0]!.mayAdmit());
    // What it would have admitted in the meantime is given back.
    await until(() => open().holds === 2n * UNIT);
    expect(await refusal(one!.admit(1))).toBe('admitted');
  });

  test('admit nothing without the counting process', async () => {
    const [one] = await start(1, new Ledger(DOLLAR));
    links[0]!.die();
    await until(() => !links[0]!.mayAdmit());
    expect(await refusal(one!.admit(1))).toBe('service_unavailable');
  });

  test('admit nothing while another process counts for the database, and read everything again after that', async () => {
    const [one] = await start(1, new Ledger(DOLLAR));
    let regained = 0;
    links[0]!.onRegained(() => regained++);
    machine.counter.admit(false);
    await until(() => !links[0]!.mayAdmit());
    expect(await refusal(one!.admit(1))).toBe('service_unavailable');
    machine.counter.admit(true, true);
    await until(() => links[0]!.mayAdmit());
    expect(regained).toBe(1);
    expect(await refusal(one!.admit(1))).toBe('admitted');
  });

  test('know a new balance as soon as one of them does', async () => {
    const ledger = new Ledger(FLOOR - 1n);
    const [one, other] = await start(2, ledger);
    expect(await refusal(one!.admit(1))).toBe('insufficient_credits');
    ledger.balance = FLOOR + 100n * UNIT;
    ledger.seq++;
    await one!.readAgain();
    await other!.readAgain();
    expect(await refusal(one!.admit(200))).toBe('admitted');
    expect(await refusal(other!.admit(1))).toBe('insufficient_credits');
  });

  test('refuse nobody because a charge and the balance without it are known from two of them', async () => {
    const ledger = new Ledger(FLOOR + UNIT);
    const [one, other] = await start(2, ledger);
    one!.settle(await one!.admit(1), UNIT);
    await until(() => open().charges === UNIT);
    one!.flush();
    await other!.readAgain();
    expect(await refusal(other!.admit(1))).toBe('admitted');
  });
});

/** With fake timers: waits for what needs only turns of the event loop. */
async function turnsUntil(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !condition(); turn++) await new Promise((next) => setImmediate(next));
  expect(condition()).toBe(true);
}

/** With fake timers: what was said is heard by then. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next));
}

describe('the line between an edge and the process that counts', () => {
  const amount = fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n });
  const whole = fc.nat(2 ** 31);
  const known = { ref: whole, day: whole, balance: amount, seq: amount, spend: amount };
  const frame = fc.oneof(
    fc.record({
      take: fc.record({
        ...known,
        limit: whole,
        hold: amount,
        cap: fc.option(fc.bigInt({ min: 0n, max: 2n ** 62n })),
      }),
    }),
    fc.record({
      report: fc.record({
        ...known,
        ...{ holds: amount, charges: amount, money: amount, calls: whole },
        ...{ used: fc.array(whole), wants: fc.boolean(), closes: fc.option(whole) },
      }),
    }),
    fc.record({
      answer: fc.record({
        verdict: fc.constantFrom('ok', 'poor', 'rate', 'later', 'unknown'),
        ...{ id: whole, remaining: whole, resetMs: whole, calls: whole, money: amount },
      }),
    }),
    fc.record({ grant: fc.record({ ref: whole, remaining: whole, calls: whole, money: amount }) }),
    fc.record({ recall: whole }),
    fc.record({ words: fc.jsonValue() }),
  );

  test('carries every sequence of words, wherever it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(frame), fc.array(fc.nat(200)), async (frames, cuts) => {
        const [here, there] = duplexPair();
        const writer = new FrameWriter(here);
        for (const one of frames) {
          if ('take' in one) writer.take(one.take);
          else if ('report' in one) writer.report(one.report);
          else if ('answer' in one) writer.answer(one.answer);
          else if ('grant' in one) writer.grant(one.grant);
          else if ('recall' in one) writer.recall(one.recall);
          else writer.words(one.words);
        }
        writer.flush();
        here.end();
        const pieces: Buffer[] = [];
        there.on('data', (piece: Buffer) => pieces.push(piece));
        await once(there, 'end');
        const read: unknown[] = [];
        const [from, to] = duplexPair();
        const reader: FrameReader = {
          take: (take) => void read.push({ take }),
          report: (report) => void read.push({ report }),
          answer: (answer) => void read.push({ answer }),
          grant: (grant) => void read.push({ grant }),
          recall: (recall) => void read.push({ recall }),
          words: (words) => void read.push({ words }),
        };
        readFrames(to, reader);
        let rest = Buffer.concat(pieces);
        for (const cut of cuts) {
          if (cut > 0 && rest.length > 0) from.write(rest.subarray(0, cut));
          rest = rest.subarray(cut);
        }
        from.end(rest);
        await once(to, 'end');
        expect(read).toEqual(JSON.parse(JSON.stringify(frames, bigints), bigintsBack));
      }),
      { numRuns: 100 },
    );
  });
});

/** Values of JSON come back as JSON has them (-0). */
const bigints = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `bigint:${value}` : value;
const bigintsBack = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && /^bigint:-?\d+$/.test(value) ? BigInt(value.slice(7)) : value;

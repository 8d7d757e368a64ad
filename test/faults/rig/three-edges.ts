import { setTimeout as pause } from 'node:timers/promises';
import { parseMoney } from '../../../src/lib/money.js';
import { call, signUp } from '../../support/api.js';
import type { TestKey } from '../../support/edge.js';
import { until } from '../../support/until.js';
import { type Entry, mixedCalls, outcome, steadyLoad } from './client.js';
import type { Rig, RigOptions } from './rig.js';

/** More than one machine: three edges that share a Redis, and a PgBouncer between all processes and the database. */
export const THREE_EDGES: RigOptions = {
  ...{ edges: 3, pooler: true, whole: true, upstream: 'routed' },
};

const FLOOR = parseMoney('0.001');
/** As many tokens as fit into the model's context, which the hold covers. */
const DEAR_WORDS = 8_000;
/** Shortest time between two calls of a lone caller. */
const LONELY_MS = 100;
/** Balance that a crowd spends. Above $0.05, so that edges may give some of it out without Redis (decision 0090). */
const POOR = '0.06';

export interface Size {
  /** In each round, Redis, PgBouncer and an edge are killed, and keys change. */
  rounds: number;
  perSecond: number;
  /** Concurrent calls of an account that can't pay for all of them, without Redis and again when it is back. */
  crowd: number;
}

/** What callers and owners saw. */
export interface Seen {
  entries: Entry[];
  /** Calls that failed, other than those that a killed edge had. */
  failed: Record<string, number>;
  /** G4: accounts that were overspent by more than their most expensive call. */
  overspent: string[];
  /** G5: refusals of a caller that is alone with its money. */
  refusedAlone: number;
  /** G5: open holds at the end, in the edges and in Redis. */
  open: number;
  /** G10: milliseconds until every edge knew of a change. */
  delays: number[];
}

/** Puts load on the edges while everything between them is lost and returns, one after the other. */
export async function loseEachInTurn(rig: Rig, customers: TestKey[], size: Size): Promise<Seen> {
  const first = rig.journal.entries.length;
  const crowd = new Set<Entry>();
  const kills: { from: number; to: number }[] = [];
  const seen: Seen = {
    ...{ entries: [], failed: {}, overspent: [], refusedAlone: 0, open: 0, delays: [] },
  };
  let over = false;
  // Up to $0.05 edges give out only together, and refuse while Redis is away (decision 0090).
  const [alone] = (await rig.customers(1, { balance: '1' })) as [TestKey];
  const load = steadyLoad(size.perSecond, () => over, mixedCalls(rig, customers));
  const lonely = (async () => {
    while (!over) {
      // Not one after the other: each goes through five processes.
      const [entry] = await Promise.all([
        rig.journal.call(rig.url, alone.key, { words: 5 }),
        pause(LONELY_MS),
      ]);
      if (entry.status === 402) seen.refusedAlone++;
    }
  })();
  try {
    await until(() => rig.journal.entries.length > first + 3 * customers.length);
    for (let round = 0; round < size.rounds; round++) {
      const redis = rig.redis!;
      const [poor] = (await rig.customers(1, { balance: POOR })) as [TestKey];
      let served = 0;
      const spend = async () => {
        for (const entry of await spendAll(rig, poor.key, size.crowd)) {
          crowd.add(entry);
          if (entry.complete) served++;
        }
      };
      await redis.kill();
      await spend();
      await redis.start();
      await allShare(rig);
      await spend();
      seen.overspent.push(...(await overspent(rig, poor, served)));

      const before = rig.journal.entries.length;
      await rig.pooler!.kill();
      await until(() => rig.journal.entries.length > before + size.perSecond / 2);
      await rig.pooler!.start();

      const edge = rig.edges[round % 3]!;
      const from = performance.now();
      await edge.end('SIGKILL');
      kills.push({ from, to: performance.now() });
      await edge.start();
      await allShare(rig);
      seen.delays.push(...(await changeKeys(rig)));
    }
  } finally {
    over = true;
    await Promise.all([load, lonely]);
  }
  seen.entries = rig.journal.entries.slice(first);
  const met = ({ startedAt, tookMs }: Entry): boolean =>
    kills.some(({ from, to }) => startedAt < to && startedAt + tookMs > from);
  seen.failed = rig.journal.tally(
    seen.entries.filter((entry) => !crowd.has(entry) && outcome(entry) !== '200' && !met(entry)),
  );
  const openNow = async () => {
    const held = await Promise.all(rig.edges.map((edge) => edge.metric('gateway_open_holds')));
    // The next command for the account removes what dead edges left. An edge's spool has its name.
    const alive = rig.spools();
    const inRedis = Object.keys(await rig.redis!.open()).filter((name) =>
      alive.some((edge) => name.endsWith(edge)),
    );
    return held.reduce((sum, count) => sum + count, 0) + inRedis.length;
  };
  await until(async () => (await openNow()) === 0, { timeoutMs: 60_000 }).catch(() => undefined);
  seen.open = await openNow();
  return seen;
}

/** A crowd of calls of one account, each as expensive as the model allows. */
const spendAll = (rig: Rig, key: string, calls: number): Promise<Entry[]> =>
  Promise.all(
    Array.from({ length: calls }, () =>
      rig.journal.call(rig.url, key, { words: DEAR_WORDS, ttftMs: 200 }, { limitMs: 60_000 }),
    ),
  );

/** Reports accounts that got nothing, or that are below the floor by more than their most expensive call. */
async function overspent(rig: Rig, { accountId }: TestKey, served: number): Promise<string[]> {
  if (served === 0) return [`${accountId} got no call`];
  const { balance, dearest } = await until(async () => {
    const { rows } = await rig.postgres.pool.query<Record<'balance' | 'dearest' | 'charged', string>>(
      `select a.balance::text, coalesce(max(u.cost), 0)::text as dearest, count(u.id) as charged
       from accounts a left join usage_events u on u.account_id = a.id and u.status = 'success'
       where a.id = $1 group by a.id`,
      [accountId],
    );
    return Number(rows[0]!.charged) >= served ? rows[0] : undefined;
  });
  const least = FLOOR - parseMoney(dearest);
  return parseMoney(balance) < least ? [`${balance} after ${served} calls of up to ${dearest}`] : [];
}

/** Disables, enables and deletes a key on the platform. Returns the milliseconds until all edges knew each change. */
async function changeKeys(rig: Rig): Promise<number[]> {
  const { token } = await signUp(rig.url);
  const made = await call<{ key: string; api_key: { id: string } }>(rig.url, 'POST', '/api/keys', {
    token,
    body: { name: 'of three edges' },
  });
  const path = `/api/keys/${made.body.api_key.id}`;
  const knows = async (url: string, status: number): Promise<boolean> => {
    const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${made.body.key}` } });
    await answer.arrayBuffer();
    return answer.status === status;
  };
  const allKnow = (status: number) =>
    Promise.all(rig.edges.map(({ url }) => until(() => knows(url, status), { intervalMs: 10 })));
  await allKnow(200);
  const delays: number[] = [];
  for (const [method, body, status] of [
    ['PATCH', { status: 'disabled' }, 401],
    ['PATCH', { status: 'active' }, 200],
    ['DELETE', undefined, 401],
  ] as const) {
    const began = performance.now();
    const answer = await call(rig.url, method, path, { token, ...(body && { body }) });
    if (answer.status > 299) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    await allKnow(status);
    delays.push(performance.now() - began);
  }
  return delays;
}

/** Waits until every edge shares its limits with all others. */
export async function allShare(rig: Rig): Promise<void> {
  const shares = async (edge: Rig['edge']) =>
    (await edge.metric('gateway_limits_shared')) === 1 &&
    (await edge.metric('gateway_edges_alive')) === rig.edges.length;
  await until(async () => (await Promise.all(rig.edges.map(shares))).every(Boolean), {
    timeoutMs: 30_000,
    what: 'the limits to be shared',
  });
}

import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { subscribe } from '../../alerts/delivery/fixtures.js';
import { type Received, type Receiver, startReceiver } from '../../alerts/delivery/receiver.js';
import { type ProductProcess, productProcess } from '../../support/product-process.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { until } from '../../support/until.js';
import { type Entry, steadyLoad } from '../rig/client.js';
import { type Rig, startRig } from '../rig/rig.js';
import { ownerOfPort } from '../rig/socket-owner.js';
import { largest, percentile, type Result, scaled } from './goal.js';

const KILLS = 100;
const CALLS_PER_SECOND = 2;
const THRESHOLDS = [20, 40, 60, 80, 100];
/** Below what one call costs: each fires all percentages of its key. */
const LIMIT = '0.000001';
const FIRST_ATTEMPT_MS = 2_000;
const REDELIVERY_MS = 60_000;
/** Three leases of a minute, for an alert that is hit each time, and the rest of its attempts. */
const SETTLED_MS = 200_000;
/** How receivers answer, and how often each. */
const MODES = ['ok', 'ok', 'ok', 'ok', 'slow', 'slow', 'recovers', 'bad'];

interface Kill {
  deliveryId: string;
  at: number;
}

/** G13: two delivering processes, killed in turn between the request and its record. */
export async function alerts(scale: number): Promise<Result> {
  const count = scaled(KILLS, scale, 4);
  const rig = await startRig('G13', { balance: '1000', direct: true });
  const workers = [deliveryProcess(rig), deliveryProcess(rig)];
  const kills: Kill[] = [];
  const killer = createKiller(workers, kills);
  const receiver = await startReceiver({ onRequest: killer.onRequest });
  const calls = new Map<string, Entry>();
  try {
    await Promise.all(workers.map((worker) => worker.start()));
    let over = false;
    const load = steadyLoad(
      CALLS_PER_SECOND,
      () => over,
      async () => {
        const keyId = await subscribedKey(rig, receiver);
        calls.set(keyId.keyId, await rig.journal.call(rig.url, keyId.key, { words: 5 }));
      },
    );
    while (kills.length < count) {
      await pause(rig.random.between(200, 3_000));
      const victim = await killer.next();
      await victim.end('SIGKILL');
      await victim.start();
    }
    over = true;
    await load;
    await until(async () => (await pending(rig)) === 0, { timeoutMs: SETTLED_MS, intervalMs: 200 }).catch(
      () => undefined,
    );
    return await judge(rig, receiver, calls, kills);
  } finally {
    await Promise.all(workers.map((worker) => worker.running() && worker.end('SIGKILL')));
    await receiver.close();
    await rig.close();
  }
}

function deliveryProcess(rig: Rig): ProductProcess {
  return productProcess('jobs', {
    PATH: process.env.PATH,
    NODE_ENV: 'development',
    DATABASE_URL: rig.postgres.url,
    DATA_DIR: rig.dataDir,
    LOG_LEVEL: process.env.FAULTS_LOG ?? 'warn',
    DISABLE_BACKGROUND_TASKS: '1',
    WEBHOOK_ALLOW_PRIVATE: '1',
    ...TEST_SECRETS,
  });
}

/** Kills the process that made the next request, before that is answered. */
function createKiller(workers: readonly ProductProcess[], kills: Kill[]) {
  let armed: ((victim: ProductProcess) => void) | undefined;
  return {
    next: () =>
      new Promise<ProductProcess>((resolve) => {
        armed = resolve;
      }),
    onRequest({ headers }: Received, response: ServerResponse): boolean | undefined {
      if (!armed) return undefined;
      const alive = workers.filter((worker) => worker.running());
      const pid = ownerOfPort(
        response.req.socket.remotePort!,
        alive.map((worker) => worker.pid()),
      );
      const victim = alive.find((worker) => worker.pid() === pid);
      if (!victim) return undefined;
      process.kill(victim.pid(), 'SIGKILL');
      kills.push({ deliveryId: headers['webhook-id']!, at: performance.now() });
      armed(victim);
      armed = undefined;
      return false;
    },
  };
}

async function subscribedKey(rig: Rig, receiver: Receiver) {
  const [key] = await rig.customers(1);
  const { pool } = rig.postgres;
  await pool.query('update api_keys set monthly_limit_usd = $2 where id = $1', [key!.keyId, LIMIT]);
  const path = `/${rig.random.pick(MODES)}/${key!.keyId}`;
  const { subscriptionId } = await subscribe(pool, receiver.url + path, key);
  await pool.query('update alert_subscriptions set thresholds_pct = $2 where id = $1', [
    subscriptionId,
    THRESHOLDS,
  ]);
  return key!;
}

async function pending(rig: Rig): Promise<number> {
  const { rows } = await rig.postgres.pool.query<{ n: number }>(
    `select count(*)::int as n from alert_events where delivery_status = 'pending'`,
  );
  return rows[0]!.n;
}

interface EventRow {
  id: string;
  key_id: string;
  threshold_pct: number;
  delivery_status: string;
  attempts: number;
  error_message: string | null;
}

async function judge(
  rig: Rig,
  receiver: Receiver,
  calls: ReadonlyMap<string, Entry>,
  kills: readonly Kill[],
): Promise<Result> {
  const { rows: events } = await rig.postgres.pool.query<EventRow>(
    'select id, key_id, threshold_pct, delivery_status, attempts, error_message from alert_events',
  );
  const requests = Map.groupBy(receiver.requests, ({ headers }) => headers['webhook-id']!);
  const paid = [...calls].filter(([, entry]) => entry.complete).map(([keyId]) => keyId);
  const recorded = new Set(events.map((event) => `${event.key_id} ${event.threshold_pct}`));
  const missing = paid.flatMap((keyId) => THRESHOLDS.filter((pct) => !recorded.has(`${keyId} ${pct}`)));
  const duplicates = events.length - recorded.size;
  const unheard = events.filter(({ id }) => !requests.has(id));
  const unknown = [...requests.keys()].filter((id) => !events.some((event) => event.id === id));
  const stuck = events.filter((event) => event.delivery_status === 'pending');
  const overDelivered = events.filter(
    ({ id, attempts }) => attempts > 3 || (requests.get(id)?.length ?? 0) > attempts,
  );
  const first = events.flatMap(({ id, key_id }) => {
    const { startedAt, tookMs } = calls.get(key_id)!;
    return (requests.get(id) ?? []).slice(0, 1).map(({ at }) => at - startedAt - tookMs);
  });
  const again = kills.flatMap(({ deliveryId, at }) =>
    (requests.get(deliveryId) ?? [])
      .filter((request) => request.at > at)
      .slice(0, 1)
      .map((request) => request.at - at),
  );
  const statuses = Object.entries(Object.groupBy(events, (event) => event.delivery_status)).map(
    ([status, list]) => `${list!.length} ${status}`,
  );
  const spent = events.filter((event) => event.error_message?.includes('may have arrived'));
  const p95 = percentile(first, 0.95);
  const lost = missing.length + unheard.length + stuck.length;
  return {
    goal: `G13 alerts of two workers over ${kills.length} kills between request and record`,
    figure:
      '0 lost, 0 duplicate records; first attempt p95 ≤ 2 s after the call; redelivery ≤ 60 s with the same id; ≤ 3 requests each',
    reached: `${events.length} alerts of ${paid.length} calls (${statuses.join(', ')}): lost ${lost} (unrecorded ${missing.length}, never sent ${unheard.length}, still pending ${stuck.length}), duplicates ${duplicates}, unknown ids ${unknown.length}, beyond their attempts ${overDelivered.length}; first attempt p50 ${percentile(first, 0.5).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, longest ${(largest(first) / 1_000).toFixed(1)} s; ${again.length} redelivered after ${(largest(again) / 1_000).toFixed(1)} s at most, ${spent.length} spent by kills`,
    ok:
      lost + duplicates + unknown.length + overDelivered.length === 0 &&
      p95 <= FIRST_ATTEMPT_MS &&
      again.length > 0 &&
      largest(again) <= REDELIVERY_MS,
  };
}

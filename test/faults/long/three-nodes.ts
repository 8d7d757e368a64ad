import globalSetup from '../../support/global-setup.js';
import globalTeardown from '../../support/global-teardown.js';
import { until } from '../../support/until.js';
import { outcome } from '../rig/client.js';
import { failedEarly, startThreeNodes, type ThreeNodes } from '../rig/three-nodes.js';
import { type Goal, type Result, scaled } from './goal.js';

const CALLERS = 32;
const STREAMS = { words: 50, chunkMs: 10 };
const MAX_LAST_REQUEST_MS = 2_000;
const MAX_RECOVERY_MS = 5_000;

const takes = (rig: ThreeNodes, what: string): Promise<unknown> =>
  until(async () => (await rig.standings())[0] === what, { timeoutMs: 30_000, what });

async function onRig(run: (rig: ThreeNodes) => Promise<Result[]>): Promise<Result[]> {
  const rig = await startThreeNodes();
  try {
    return await run(rig);
  } finally {
    await rig.close();
  }
}

/** One node dies and returns, many times. */
const deaths = (times: number): Promise<Result[]> =>
  onRig(async (rig) => {
    const [node] = rig.nodes;
    const id = rig.ids[0]!;
    const load = rig.load(CALLERS, STREAMS);
    let [lastMs, recoveryMs] = [0, 0];
    for (let i = 0; i < times; i++) {
      await load.more(3 * CALLERS);
      const diedAt = performance.now();
      node!.become('dead');
      await takes(rig, 'no');
      await load.more(3 * CALLERS);
      lastMs = Math.max(lastMs, node!.asked.at(-1)! - diedAt);
      await rig.set(id, { health_status: 'unhealthy' });
      node!.become('serving');
      const recoveredAt = performance.now();
      await rig.set(id, { health_status: 'healthy' });
      const before = node!.asked.length;
      await until(() => node!.asked.length >= before + CALLERS, { timeoutMs: 30_000 });
      recoveryMs = Math.max(recoveryMs, performance.now() - recoveredAt);
    }
    await load.stop();
    const early = failedEarly(load.entries);
    return [
      {
        goal: 'NODES deaths',
        figure: `${times} deaths: last new request ≤ 2 s, 0 failures before a first byte, full share ≤ 5 s after recovery`,
        reached: `${lastMs.toFixed(0)} ms, ${early.length} of ${load.entries.length}, ${recoveryMs.toFixed(0)} ms`,
        ok: lastMs <= MAX_LAST_REQUEST_MS && early.length === 0 && recoveryMs <= MAX_RECOVERY_MS,
      },
    ];
  });

/** A drain while streams of `minutes` are under way. */
const drain = (minutes: number): Promise<Result[]> =>
  onRig(async (rig) => {
    const [node] = rig.nodes;
    const long = { words: minutes * 60, chunkMs: 1_000 };
    const limitMs = (minutes + 2) * 60_000;
    // Idle seconds between two tokens would be a stall.
    const streams = Array.from({ length: CALLERS }, () =>
      rig.journal.call(
        rig.edge.url,
        rig.customer.key,
        { ...long, words: long.words * 2, chunkMs: 500 },
        { stream: true, limitMs },
      ),
    );
    await until(() => rig.nodes.reduce((sum, { asked }) => sum + asked.length, 0) >= CALLERS);
    await rig.set(rig.ids[0]!, { status: 'draining' });
    await takes(rig, 'no');
    const calls = node!.asked.length;
    const lost = (await Promise.all(streams)).filter((entry) => outcome(entry) !== '200').length;
    const endedAt = performance.now();
    await until(async () => {
      const { rows } = await rig.db.pool.query<{ at: Date | null }>(
        'select drained_at as at from gpu_nodes where id = $1',
        [rig.ids[0]],
      );
      return rows[0]!.at;
    });
    const drainedMs = performance.now() - endedAt;
    return [
      {
        goal: 'NODES drain',
        figure: `a drain under streams of ${minutes} minutes loses 0 of ${CALLERS}; drained_at within 1 s`,
        reached: `${lost} lost, ${node!.asked.length - calls} new calls, drained_at after ${drainedMs.toFixed(0)} ms`,
        ok: lost === 0 && node!.asked.length === calls && drainedMs <= 1_000,
      },
    ];
  });

/** Nodes that die, come back and drain, at full size. */
export const threeNodes: Goal = async (scale) => {
  const { TMPDIR, NODE_ENV } = process.env;
  await globalSetup();
  try {
    return [...(await deaths(scaled(50, scale, 2))), ...(await drain(scaled(10, scale, 1)))];
  } finally {
    await globalTeardown();
    // Later goals start the product as they would alone.
    for (const [name, value] of Object.entries({ TMPDIR, NODE_ENV })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
};

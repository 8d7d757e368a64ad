import { Agent } from 'node:http';
import { leftBehind } from '../../../src/db/server-process.js';
import { cpuMicros, family } from '../../bench/machine.js';
import type { TestKey } from '../../support/edge.js';
import { outcome, steadyLoad } from '../rig/client.js';
import type { Rig, RigOptions } from '../rig/rig.js';
import { THREE_EDGES } from '../rig/three-edges.js';
import { allShare, type Result, scaled, withRig } from './goal.js';

/** Until the code of three edges is compiled. */
const WARM_SECONDS = 10;
const SECONDS = 20;
const PER_SECOND = 450;

/** What a call costs each process of three edges over Redis, with and without PgBouncer. */
export async function threeEdgesCost(scale: number): Promise<Result[]> {
  const seconds = scaled(SECONDS, scale, 5);
  return [
    await costOf('no pooler', { edges: 3 }, seconds),
    await costOf('PgBouncer', { ...THREE_EDGES, whole: false, upstream: 'scripted' }, seconds),
  ];
}

const costOf = (name: string, options: RigOptions, seconds: number): Promise<Result> =>
  withRig(name, options, async (rig, customers) => {
    await allShare(rig);
    const agent = new Agent({ keepAlive: true, maxSockets: 60 });
    await load(rig, customers, agent, WARM_SECONDS);
    const before = used(rig);
    const calls = await load(rig, customers, agent, seconds);
    const after = used(rig);
    agent.destroy();
    const costs = Object.entries(after).map(
      ([part, micros]) => `${part} ${((micros - before[part]!) / calls.made).toFixed(0)} µs`,
    );
    return {
      goal: `EDGES cost of a call, ${PER_SECOND}/s over three edges, ${name}`,
      figure: 'a figure for docs/scaling.md',
      reached: `CPU of ${calls.made} calls: ${costs.join(', ')}; failed: ${calls.failed}`,
      ok: calls.failed === 0,
    };
  });

async function load(rig: Rig, customers: TestKey[], agent: Agent, seconds: number) {
  const end = performance.now() + 1_000 * seconds;
  let failed = 0;
  const made = await steadyLoad(
    PER_SECOND,
    () => performance.now() > end,
    async (i) => {
      const { key } = customers[i % customers.length]!;
      const entry = await rig.journal.call(rig.edges[i % 3]!.url, key, {}, { agent });
      if (outcome(entry) !== '200') failed++;
    },
  );
  return { made, failed };
}

/** Microseconds of CPU that each part has used so far. */
function used(rig: Rig): Record<string, number> {
  return {
    edges: cpuMicros(rig.edges.map((edge) => edge.pid())),
    Redis: cpuMicros(rig.redis ? [rig.redis.pid()] : []),
    ...(rig.pooler && { PgBouncer: cpuMicros([rig.pooler.pid()]) }),
    PostgreSQL: cpuMicros(family(leftBehind(rig.postgres.directory)!.pid)),
  };
}

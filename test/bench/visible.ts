import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Result } from './jobs.js';
import type { Generator } from './measure.js';
import { quantile } from './measure.js';
import type { RunningTarget } from './targets.js';

const PER_SECOND = 500;
const POLL_MS = 2;
const PATIENCE_MS = 5_000;
/** Accounts outside the load, so that only the probe's call changes their balance. */
const PROBE_ACCOUNTS = 8;

export interface Visibility {
  p50: number;
  p99: number;
  samples: number;
  /** Calls made, probes included. */
  calls: Pick<Result, 'answers' | 'bad' | 'ids' | 'failures'>;
}

/** Time from an answer's last byte until the database shows the balance without its cost, at 500 calls a second. */
export async function measureVisibility(
  edge: RunningTarget,
  generator: Generator,
  ms: number,
): Promise<Visibility> {
  const keys = edge.ledger!.keys;
  const target = { ...edge.target, keys: keys.slice(PROBE_ACCOUNTS).map(({ key }) => key) };
  const load = generator.run({ kind: 'paced', target, perSecond: PER_SECOND, ms });
  const end = performance.now() + ms;
  const calls = { answers: 0, bad: 0, ids: [] as string[], failures: [] as string[] };
  const probes = keys.slice(0, PROBE_ACCOUNTS).map(async ({ accountId, key }, index) => {
    const delays: number[] = [];
    await delay(index * 13);
    while (performance.now() < end) {
      const before = await balanceOf(edge, accountId);
      const response = await callOnce(edge.target.port, key);
      const answered = performance.now();
      calls.answers++;
      if (response.status === 200) calls.ids.push(response.headers.get('x-request-id')!);
      else {
        calls.bad++;
        calls.failures.push(`probe: ${response.status}`);
        continue;
      }
      while ((await balanceOf(edge, accountId)) === before) {
        if (performance.now() - answered > PATIENCE_MS) break;
        await delay(POLL_MS);
      }
      delays.push(performance.now() - answered);
      // Not right after the flush that was just seen, so that a probe starts anywhere between two flushes.
      await delay(Math.random() * 60);
    }
    return delays;
  });
  const delays = (await Promise.all(probes)).flat();
  const { answers, bad, ids, failures } = await load;
  calls.answers += answers;
  calls.bad += bad;
  calls.ids.push(...ids);
  calls.failures.push(...failures);
  return {
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
    samples: delays.length,
    calls,
  };
}

async function balanceOf(edge: RunningTarget, accountId: string): Promise<string> {
  const { rows } = await edge.ledger!.pool.query<{ balance: string }>({
    name: 'bench-balance',
    text: 'select balance::text from accounts where id = $1',
    values: [accountId],
  });
  return rows[0]!.balance;
}

async function callOnce(port: number, key: string): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gateway/fast', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.arrayBuffer();
  return response;
}

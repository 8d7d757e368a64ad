import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createPayer, intentOf, openMeter, type Payer, recordOf } from '../../metering/support.js';
import { beyondBounds, type Exposure, type WatchedDisk, watchDisk } from '../../metering/watched-disk.js';
import { steadyLoad } from '../rig/client.js';
import { startRigPostgres } from '../rig/postgres.js';
import { largest, percentile, type Result, scaled } from './goal.js';

const SECONDS = 60;
const RATES = [500, 2_000];
/** From admission to the end of a call. */
const CALL_MS = 20;

/** G2: what a power cut could lose, from the spool's writes and syncs on the real disk. */
export async function powerLoss(scale: number): Promise<Result[]> {
  const seconds = scaled(SECONDS, scale, 5);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-power-'));
  const postgres = await startRigPostgres(folder);
  const results: Result[] = [];
  try {
    const payer = await createPayer(postgres.pool);
    for (const perSecond of RATES) {
      const watched = watchDisk();
      const { meter } = await openMeter(join(folder, 'spool'), postgres.pool, { disk: watched.disk });
      const end = performance.now() + seconds * 1_000;
      await steadyLoad(
        perSecond,
        () => performance.now() > end,
        () => oneCall(meter, watched, payer),
      );
      await meter.stop();
      results.push(resultOf(watched.exposures, perSecond));
    }
  } finally {
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return results;
}

type Meter = Awaited<ReturnType<typeof openMeter>>['meter'];

async function oneCall(meter: Meter, watched: WatchedDisk, payer: Payer): Promise<void> {
  const intent = intentOf(payer);
  meter.begin(intent);
  watched.appended();
  await pause(CALL_MS);
  await new Promise<void>((resolve, reject) => {
    meter.finish(recordOf(payer, { id: intent.id, inputTokens: 10, outputTokens: 5 }), (error) =>
      error ? reject(error) : resolve(),
    );
    watched.appended();
  });
}

function resultOf(exposures: Exposure[], perSecond: number): Result {
  const ages = exposures.map(({ oldestMs }) => oldestMs);
  const records = exposures.map((one) => one.records);
  const beyond = exposures.filter(beyondBounds).length;
  const late = ages.filter((age) => age > 25).length;
  return {
    goal: `G2 exposure to power loss at ${perSecond} calls/s`,
    figure: '≤ 25 ms or 256 records, not one more',
    reached: `${exposures.length} syncs: age of the oldest unsynced record p50 ${percentile(ages, 0.5).toFixed(1)} ms, p99 ${percentile(ages, 0.99).toFixed(1)} ms, longest ${largest(ages).toFixed(1)} ms (${late} beyond 25 ms); unsynced records p99 ${percentile(records, 0.99)}, most ${largest(records)}; beyond both: ${beyond}`,
    ok: beyond === 0,
  };
}

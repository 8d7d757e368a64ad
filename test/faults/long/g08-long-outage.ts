import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../support/until.js';
import { compareBooks } from '../rig/books.js';
import { outcome } from '../rig/client.js';
import { faultsOf, faultsText, type Result, under, withRig } from './goal.js';

/** G8: PostgreSQL unavailable for longer than cached rows may serve. No scale shortens this time, since it is the goal. */
export function longOutage(): Promise<Result> {
  return withRig('G8', {}, async (rig, customers) => {
    const began = performance.now();
    let readyAfter = 0;
    const entries = await under(rig, customers, { perSecond: 20 }, async () => {
      await rig.postgres.stop();
      await pause(70_000);
      readyAfter = (await fetch(`${rig.url}/health/ready`)).status;
      await rig.postgres.start();
      await until(async () => (await rig.journal.call(rig.url, customers[0]!.key)).status === 200);
    });
    const refused = entries.filter((entry) => outcome(entry) !== '200');
    const firstRefusal = Math.min(...refused.map((entry) => entry.startedAt)) - began;
    const honest = refused.every((entry) => entry.status === 503 && entry.retryAfter !== undefined);
    const { books } = await compareBooks(rig);
    return {
      goal: 'G8 PostgreSQL down 70 s',
      figure: 'known keys ≤ 60 s, then 503 with Retry-After; 0 unbilled',
      reached: `first refusal ${(firstRefusal / 1_000).toFixed(1)} s after the load began, ${refused.length} refusals, all 503 with Retry-After: ${honest ? 'yes' : `no (${JSON.stringify(rig.journal.tally(refused))})`}, /health/ready then ${readyAfter}, unbilled or lost: ${faultsText(books)}`,
      ok:
        honest &&
        refused.length > 0 &&
        readyAfter === 503 &&
        firstRefusal > 50_000 &&
        firstRefusal < 66_000 &&
        faultsOf(books) === 0,
    };
  });
}

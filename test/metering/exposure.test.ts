import { setTimeout as delay } from 'node:timers/promises';
import { realDisk } from '../../src/metering/segment.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { ownTime } from '../support/own-time.js';
import { createPayer, finish, intentOf, openMeter, recordOf, temporaryFolder } from './support.js';
import { beyondBounds, watchDisk } from './watched-disk.js';

const CALLS = 1_500;
const TURN = 8;
/** As a sync takes on a disk of its own. */
const SYNC_MS = 3;

/** RELIABILITY.md G2: what a power cut may take. */
test('no more than 256 records lie unsynced for longer than 25 ms', async () => {
  const db: TestDatabase = await createTestDatabase();
  const folder = temporaryFolder();
  const payer = await createPayer(db.pool);
  // The time of a real sync is the machine's affair; when it is asked for is ours.
  const time = ownTime();
  const watched = watchDisk({ write: realDisk.write, sync: () => delay(SYNC_MS) }, time.now);
  const { meter } = await openMeter(folder.path, db.pool, { disk: watched.disk });
  const written: Promise<void>[] = [];
  for (let made = 0; made < CALLS; made += TURN) {
    for (let i = 0; i < TURN; i++) {
      const { id } = intentOf(payer);
      meter.begin(intentOf(payer, { id }));
      watched.appended();
      written.push(finish(meter, recordOf(payer, { id, inputTokens: 1, outputTokens: 1 })));
      watched.appended();
    }
    await delay(1);
  }
  await Promise.all(written);
  await meter.stop();
  time.stop();
  // Everything was synced in the end, in many small steps.
  expect(watched.exposures.length).toBeGreaterThan(10);
  expect(watched.exposures.filter(beyondBounds)).toEqual([]);
  folder.remove();
  await db.close();
});

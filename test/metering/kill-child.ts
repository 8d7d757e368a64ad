import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { begin, finish, intentOf, openMeter, recordOf } from './support.js';

/**
 * A process to be killed. It records a few calls per millisecond and prints the id of each acknowledged one.
 * Arguments: spool directory, database URL, account id, key id.
 */
const [directory, databaseUrl, accountId, keyId] = process.argv.slice(2) as [string, string, string, string];
const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
pool.on('error', () => undefined);
const { meter } = await openMeter(directory, pool);
for (;;) {
  const intents = Array.from({ length: 1 + Math.floor(Math.random() * 8) }, () =>
    intentOf({ accountId, keyId }),
  );
  for (const intent of intents) begin(meter, intent);
  await nextTurn();
  for (const { id } of intents) {
    void finish(meter, recordOf({ accountId, keyId }, { id, inputTokens: 7, outputTokens: 3 })).then(() =>
      // Writes to a pipe are synchronous, so the parent gets the id even if the kill comes next.
      process.stdout.write(`${id}\n`),
    );
  }
  await delay(1);
}

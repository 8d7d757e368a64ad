import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { MikroORM } from '@mikro-orm/postgresql';
import { loadConfigOrExit } from '../config.js';
import { pgPool } from '../db/connection.js';
import { formatTimestamp } from '../lib/clock.js';
import { formatMoney } from '../lib/money.js';
import { type DeadLetter, listDeadLetters, retakeDeadLetters } from '../metering/dead-letters.js';
import { withDatabase } from './database.js';

/**
 * `npm run dead-letters`: lists the usage events in `DATA_DIR/spool/dead-letters`. The database rejected these events, so they
 * weren't charged. `-- --retake` sends them again. Exit code 1 while some are left, 2 if they can't be read.
 */
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const events = ({ length }: DeadLetter[]): string => `${length} event${length === 1 ? '' : 's'}`;

const print = ({ record, reason }: DeadLetter): void =>
  say(
    `${record.id}  ${formatTimestamp(record.createdAt)}  account ${record.accountId}  ${record.servedModel}  $${formatMoney(record.cost)}\n    ${reason}`,
  );

async function list(directory: string): Promise<number> {
  const letters = await listDeadLetters(directory);
  letters.forEach(print);
  if (letters.length === 0) say(`no dead letters in ${directory}`);
  else {
    say(
      `${events(letters)} rejected by the database. Fix the cause, then run: npm run dead-letters -- --retake`,
    );
  }
  return letters.length === 0 ? 0 : 1;
}

async function retake(directory: string, orm: MikroORM): Promise<number> {
  const { taken, left } = await retakeDeadLetters(directory, await pgPool(orm));
  left.forEach(print);
  say(`${events(taken)} ${taken.length === 1 ? 'is' : 'are'} recorded, ${left.length} rejected again`);
  return left.length === 0 ? 0 : 1;
}

try {
  const { values } = parseArgs({ options: { retake: { type: 'boolean', default: false } } });
  const config = loadConfigOrExit('launcher');
  const directory = join(config.dataDir, 'spool');
  process.exitCode = values.retake
    ? await withDatabase(config, 'dead-letters', (orm) => retake(directory, orm))
    : await list(directory);
} catch (error) {
  process.stderr.write(`dead-letters: ${(error as Error).message}\n`);
  process.exitCode = 2;
}

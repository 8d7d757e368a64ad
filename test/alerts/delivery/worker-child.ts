import { pino } from 'pino';
import { openOrm } from '../../../src/db/orm.js';
import { startWorker } from './support.js';

/**
 * A process that delivers alerts, to be killed or stopped. Its log is its output.
 * Arguments: database URL, length of a lease in milliseconds.
 */
const [databaseUrl, leaseMs] = process.argv.slice(2) as [string, string];
const orm = await openOrm({ databaseUrl, processName: 'test-worker', poolSize: 2 });
startWorker({ orm }, { leaseMs: Number(leaseMs), log: pino({ level: 'warn' }) });
process.stdout.write('started\n');

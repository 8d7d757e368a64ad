import { flushCompileCache } from 'node:module';
import { pino } from 'pino';
import { openOrm } from '../../../src/db/orm.js';
import { startWorker, webhookSender } from './support.js';

/** Longer than the process is suspended, which continues with the response waiting in its socket. */
const ATTEMPT_MS = 60_000;

/**
 * A process that delivers alerts, to be killed or stopped. Its log is its output.
 * Arguments: database URL, length of a lease in milliseconds.
 */
const [databaseUrl, leaseMs] = process.argv.slice(2) as [string, string];
const orm = openOrm({ databaseUrl, processName: 'test-worker', poolSize: 2 });
startWorker(
  { orm },
  {
    leaseMs: Number(leaseMs),
    log: pino({ level: 'warn' }),
    senders: { webhook: webhookSender({ attemptMs: ATTEMPT_MS }), email: null },
  },
);
// It is killed: the next one would compile everything again.
flushCompileCache();
process.stdout.write('started\n');

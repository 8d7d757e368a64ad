import { PostgresBackend } from '@agendajs/postgres-backend';
import type { MikroORM } from '@mikro-orm/postgresql';
import { Agenda, type Job } from 'agenda';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { ServiceContext } from '../context.js';
import { migrate } from '../db/migrate.js';
import type { Logger } from '../lib/logger.js';
import { createOutageLog } from '../lib/outage-log.js';
import { QuietBackend } from './quiet-backend.js';

/** A scheduled job. Its body is a few lines that call a service. It runs at least once, so it must be safe to repeat. */
export interface JobDefinition<Data = unknown> {
  name: string;
  /** Schema of the stored data, checked at every run, since another version may have stored it. */
  schema: z.ZodType<Data>;
  /** Time between two runs, such as `'1 hour'`. The first run is immediate, and missed runs are made up for at the start. */
  every: string;
  /** Stored with the schedule. */
  data: Data;
  run(context: ServiceContext, data: Data): Promise<void>;
}

/** Checks the types of one job, and erases them for the kit. */
export function defineJob<Data>(job: JobDefinition<Data>): JobDefinition {
  return job as JobDefinition;
}

/** A job that stores no data. */
export const scheduled = (
  name: string,
  every: string,
  run: (context: ServiceContext) => Promise<void>,
): JobDefinition => defineJob({ name, schema: z.strictObject({}), every, data: {}, run });

export interface JobRunnerOptions {
  jobs: readonly JobDefinition[];
  pool: Pool;
  log: Logger;
  /** Creates the context of one run, with its own entity manager. */
  context(): ServiceContext;
  /** Called after every run. */
  onRun?(name: string, outcome: 'success' | 'failure', seconds: number): void;
  /** Time between two looks for due jobs. */
  pollMs?: number;
  /** Time of silence after which a worker counts as dead and another one runs its job. */
  lockLifetimeMs?: number | undefined;
}

export interface JobRunner {
  /**
   * Waits at most `timeoutMs` for running jobs; the next process repeats those that haven't ended. Agenda leaves a timer of
   * half a lock's lifetime after each run, so the process has to exit explicitly.
   */
  stop(timeoutMs: number): Promise<void>;
  /** Whether another process has run a job successfully since this one last did. @throws Error of the database */
  ranElsewhere(name: string): Promise<boolean>;
}

const LOCK_LIFETIME_MS = 60_000;
/** A lock is renewed three times in its life. */
const RENEWALS = 3;
/** Also the latency of every schedule, since notifications are off. */
const POLL_MS = 1_000;
/** Number of polls without an error after which the database counts as back. */
const QUIET_POLLS = 5;

/**
 * Agenda's indexes of what each run changes. For a table of a few rows they only make writes larger: without them, PostgreSQL
 * updates a row in place.
 */
const NEEDLESS_INDEXES = ['find_and_lock', 'locked_at', 'next_run_at'].map(
  (name) => `agenda_jobs_${name}_idx`,
);

/** Creates Agenda's tables under the lock of the migrations, because its own DDL races if processes start together. */
export async function ensureJobSchema(orm: MikroORM, pool: Pool): Promise<void> {
  await migrate(orm, async () => {
    await new PostgresBackend({ pool, disableNotifications: true }).connect();
    await pool.query(`drop index if exists ${NEEDLESS_INDEXES.join(', ')}`);
  });
}

/** Starts running jobs in this process. Any number of processes may do so; each run of a job happens in one of them. */
export async function startJobs(options: JobRunnerOptions): Promise<JobRunner> {
  const { jobs, pool, log, lockLifetimeMs = LOCK_LIFETIME_MS } = options;
  const agenda = new Agenda({
    backend: new QuietBackend(pool),
    name: `jobs-${process.pid}`,
    processEvery: options.pollMs ?? POLL_MS,
    defaultConcurrency: 1,
    maxConcurrency: 10,
    // Unlimited: a limit would apply to the jobs taken per poll.
    defaultLockLimit: 0,
    lockLimit: 0,
    defaultLockLifetime: lockLifetimeMs,
    removeOnComplete: true,
  });
  /** By job, the start of the last successful run in this process, as in the scheduler's table. */
  const succeeded = new Map<string, number>();
  let running = 0;
  let becameIdle: (() => void) | undefined;
  agenda.on('start', () => {
    running++;
  });
  agenda.on('complete', () => {
    running--;
    if (running === 0) becameIdle?.();
  });
  const outages = createOutageLog(log, 'the job scheduler', (options.pollMs ?? POLL_MS) * QUIET_POLLS);
  agenda.on('error', (error) => outages.failed(error));
  for (const job of jobs)
    agenda.define(job.name, async (scheduled: Job) => {
      await runOne(job, scheduled, options, lockLifetimeMs / RENEWALS);
      succeeded.set(job.name, scheduled.attrs.lastRunAt!.getTime());
    });
  await agenda.start();
  for (const job of jobs) await agenda.every(job.every, job.name, job.data, { timezone: 'UTC' });
  return {
    async stop(timeoutMs) {
      outages.close();
      // Agenda's drain misses the end of the last job and waits for its timeout.
      const idle = new AbortController();
      becameIdle = () => idle.abort();
      const result = await agenda.drain({ timeout: timeoutMs, signal: idle.signal, closeConnection: false });
      if (result.timedOut) log.warn({ running }, 'jobs were still running and will run again');
    },
    async ranElsewhere(name) {
      const { rows } = await pool.query<{ at: Date }>(
        `select last_run_at as at from agenda_jobs
         where name = $1 and last_finished_at >= last_run_at and (failed_at is null or failed_at < last_run_at)`,
        [name],
      );
      const own = succeeded.get(name);
      return own !== undefined && rows.some(({ at }) => at.getTime() !== own);
    },
  };
}

async function runOne(
  job: JobDefinition,
  scheduled: Job,
  options: JobRunnerOptions,
  renewMs: number,
): Promise<void> {
  const began = Date.now();
  const context = options.context();
  const renewal = setInterval(() => {
    scheduled
      .touch()
      .catch((error: unknown) =>
        context.log.warn({ err: error, job: job.name }, 'failed to renew the lock of a job'),
      );
  }, renewMs);
  try {
    await job.run(context, job.schema.parse(scheduled.attrs.data));
    options.onRun?.(job.name, 'success', (Date.now() - began) / 1000);
  } catch (error) {
    options.onRun?.(job.name, 'failure', (Date.now() - began) / 1000);
    context.log.error({ err: error, job: job.name }, 'a job failed and will run again when it is next due');
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

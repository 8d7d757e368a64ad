import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { localContext, type ServiceContext } from '../context.js';
import { DatabaseClient } from '../db/client.js';
import { pgPool, unname } from '../db/connection.js';
import { pastPooler } from '../db/past-pooler.js';
import { guardConnection } from '../db/patience.js';
import { isPooled } from '../db/pooled.js';
import { sessionSettings } from '../db/session-settings.js';
import type { Logger } from '../lib/logger.js';
import { ensureJobSchema, type JobDefinition, type JobRunner, startJobs } from './kit.js';
import { nodeMetrics } from './nodes.jobs.js';
import type { ReportRemoved } from './retention.jobs.js';

/** One connection for reads of the schedule, one for writes of finished jobs. */
const POOL_SIZE = 2;
const CONNECTION_TIMEOUT_MS = 5_000;

/** The results of jobs, for metrics. */
export interface JobReports {
  /** Number of rows that violate an invariant. */
  violations(invariant: string, violations: number): void;
  /** Values not sealed with the current key: `left` can be opened with the previous one, `unreadable` with neither. */
  oldSeals(old: { left: number; unreadable: number }): void;
  /** Number of rows removed after their retention. */
  removed: ReportRemoved;
}

export interface JobsAppOptions {
  databaseUrl: string;
  /** The same database past a pooler; `databaseUrl` by default. */
  databaseDirectUrl?: string;
  orm: MikroORM;
  log: Logger;
  registry: Registry;
  /** If false, no schedule is started at all: Agenda would store a disabled one, and the next start would enable it. */
  enabled: boolean;
  lockLifetimeMs?: number;
  /** Creates the jobs. */
  jobs(reports: JobReports): readonly JobDefinition[];
}

/** Starts the schedule of this process with its metrics; null when background tasks are off. */
export async function startJobsApp(options: JobsAppOptions): Promise<JobRunner | null> {
  const { orm, log, registry } = options;
  let runner: JobRunner | undefined;
  /** Resets the gauge once another process has run the job, because this process's result is then outdated. */
  const foundBy = (job: string) =>
    async function collect(this: Gauge): Promise<void> {
      if (await runner?.ranElsewhere(job).catch(() => false)) this.reset();
    };
  const violations = new Gauge({
    name: 'gateway_invariant_violations',
    help: 'Rows that violate a ledger invariant, as of the last audit. Investigate anything but 0.',
    labelNames: ['invariant'],
    registers: [registry],
    collect: foundBy('audit'),
  });
  const oldSeals = new Gauge({
    name: 'gateway_old_seals',
    help: 'Values not encrypted with the current ENCRYPTION_KEY, as of the last run of the reseal job.',
    labelNames: ['state'],
    registers: [registry],
    collect: foundBy('reseal'),
  });
  const removed = new Counter({
    name: 'gateway_retention_removed_total',
    help: 'Rows removed because their retention period has passed.',
    labelNames: ['kind'],
    registers: [registry],
  });
  const runs = new Counter({
    name: 'gateway_job_runs_total',
    help: 'Runs of scheduled jobs.',
    labelNames: ['job', 'outcome'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'gateway_job_duration_seconds',
    help: 'Duration of scheduled job runs.',
    labelNames: ['job'],
    buckets: [0.01, 0.1, 1, 10, 60, 300],
    registers: [registry],
  });
  if (!options.enabled) {
    log.warn("background tasks are disabled: scheduled jobs don't run");
    return null;
  }
  // Not MikroORM's pool: it returns timestamps as texts, where Agenda expects dates.
  const { databaseUrl, databaseDirectUrl = databaseUrl } = options;
  const addresses = { databaseUrl, databaseDirectUrl };
  const pooled = isPooled(addresses);
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    Client: DatabaseClient,
    application_name: 'gateway-jobs-schedule',
    max: POOL_SIZE,
    ...sessionSettings(pooled),
    // An option of `DatabaseClient`, which the pool's types don't know.
    ...{ pooled },
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
  });
  pool.on('connect', guardConnection);
  if (pooled) pool.on('connect', unname);
  pool.on('error', (error) => log.warn({ err: error }, 'lost a database connection'));
  await pastPooler(orm, { role: 'jobs', ...addresses }, async (direct) =>
    ensureJobSchema(direct, direct === orm ? pool : await pgPool(direct)),
  );
  nodeMetrics(registry, () => jobContext(orm, log));
  const started = await startJobs({
    jobs: options.jobs({
      violations: (invariant, count) => violations.set({ invariant }, count),
      oldSeals({ left, unreadable }) {
        oldSeals.set({ state: 'left' }, left);
        oldSeals.set({ state: 'unreadable' }, unreadable);
      },
      removed: (kind, rows) => removed.inc({ kind }, rows),
    }),
    pool,
    log,
    lockLifetimeMs: options.lockLifetimeMs,
    context: () => jobContext(orm, log),
    onRun(job, outcome, seconds) {
      runs.inc({ job, outcome });
      duration.observe({ job }, seconds);
    },
  });
  runner = started;
  return {
    ...started,
    async stop(timeoutMs) {
      await started.stop(timeoutMs);
      await pool.end();
    },
  };
}

const jobContext = (orm: MikroORM, log: Logger): ServiceContext =>
  localContext({ em: orm.em.fork(), log, network: 'jobs' });

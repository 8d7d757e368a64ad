import { PostgresBackend, PostgresJobRepository } from '@agendajs/postgres-backend';
import type { JobParameters, JobRepositoryOptions } from 'agenda';
import type { Pool } from 'pg';

/** Names of the jobs that may be locked: due and unlocked, or locked by a worker that is silent. */
const DUE = `select name from agenda_jobs
  where disabled = false and (locked_at is null and next_run_at <= $1 or locked_at <= $2)`;

/** Renews a lock that this process still has. */
const RENEW = 'update agenda_jobs set locked_at = $3 where id = $1 and locked_at = $2';

/**
 * Agenda's tables, read before they are written: Agenda asks for each job with an UPDATE per poll, which PostgreSQL plans each
 * time. Here one prepared SELECT per poll finds which jobs are due, and Agenda's statements are sent for those only.
 *
 * A run writes twice, when it takes the lock and at its end. Agenda would also store its start with the time of the next run,
 * and so forget a run whose worker dies: the job would count as done until it is next due. Here it stays due.
 */
class QuietRepository extends PostgresJobRepository {
  /** The look that all jobs of a poll share. */
  #look: Promise<Set<string>> | undefined;
  /** By the id of a job, when this process last took or renewed its lock. */
  readonly #locks = new Map<string, Date>();

  override async getNextJobToRun(
    name: string,
    nextScanAt: Date,
    lockDeadline: Date,
    now: Date | undefined,
    options?: JobRepositoryOptions,
  ): Promise<JobParameters | undefined> {
    this.#look ??= this.#due(nextScanAt, lockDeadline).finally(() => {
      this.#look = undefined;
    });
    if (!(await this.#look).has(name)) return undefined;
    const job = await super.getNextJobToRun(name, nextScanAt, lockDeadline, now, options);
    if (job?.lockedAt) this.#locks.set(String(job._id), job.lockedAt);
    return job;
  }

  /** Called when a run starts, to renew its lock, and at its end, which clears `lockedAt`. */
  override async saveJobState(job: JobParameters, options?: JobRepositoryOptions): Promise<void> {
    const id = String(job._id);
    const lockedAt = this.#locks.get(id);
    if (!job.lockedAt || !lockedAt) {
      this.#locks.delete(id);
      await super.saveJobState(job, options);
    } else if (job.lockedAt.getTime() !== lockedAt.getTime()) {
      const { rowCount } = await this.getPool().query(RENEW, [id, lockedAt, job.lockedAt]);
      if (rowCount === 0) throw new Error(`another process has taken the lock of the job ${job.name}`);
      this.#locks.set(id, job.lockedAt);
    }
  }

  async #due(nextScanAt: Date, lockDeadline: Date): Promise<Set<string>> {
    const values = [nextScanAt, lockDeadline];
    const { rows } = await this.getPool().query<{ name: string }>({ name: 'due-jobs', text: DUE, values });
    return new Set(rows.map(({ name }) => name));
  }
}

/** Agenda on PostgreSQL that writes nothing while no job is due. */
export class QuietBackend extends PostgresBackend {
  readonly #repository: QuietRepository;

  constructor(pool: Pool) {
    // Notifications would hold a connection, repeat the events of other processes, and end the process when they
    // fail. A poll per second is enough for these schedules.
    const config = { pool, ensureSchema: false, disableNotifications: true };
    super(config);
    this.#repository = new QuietRepository(config);
  }

  override get repository(): QuietRepository {
    return this.#repository;
  }
}

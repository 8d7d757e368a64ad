import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ServiceContext } from '../../context.js';
import { limitStatements } from '../../db/in-transaction.js';
import { patiently } from '../../db/patience.js';
import { MINUTE_MS } from '../../lib/clock.js';
import { type Finding, type Findings, findViolations } from './findings.js';
import type { Query } from './invariant.js';
import { BEGINNING, type Position } from './position.js';
import {
  advanceRound,
  currentRound,
  sealAccounts,
  sealTime,
  unprovenTimes,
  unsealAccounts,
  unsealTime,
} from './seals.store.js';
import { type AuditStep, checkAccounts, checkNext, checkTimes, SLICE, sliceOf } from './slices.js';
import { readUnsealed } from './slices.store.js';

/** A slice takes a second or so. A statement that looks for calls of an account at any time may take longer. */
const TIMEOUT_MS = 300_000;
/** How often everything is checked, and for how long of each hour. */
const EVERY = '6 days 23 hours';
const ROUND_MS = 10 * MINUTE_MS;

/** Checks all invariants on everything, slice by slice. Only reads. Each violation is logged as an error. */
export async function runAudit(context: ServiceContext): Promise<readonly Finding[]> {
  return report(context, await auditAll(queryOf(context)));
}

/**
 * Checks the present state, and what was written since it was last proven. Before that, goes on for some minutes with the weekly
 * audit of everything. Where that finds a violation it breaks the seal, so each run reports the violation until it is gone.
 */
export async function runHourlyAudit(context: ServiceContext): Promise<readonly Finding[]> {
  const query = queryOf(context);
  const position = await continueRound(query);
  if (position === 'ended') context.log.info('everything was audited');
  else if (position) context.log.info({ position }, 'the audit of everything goes on with the next run');
  return report(context, await auditNew(query));
}

/** `runAudit` without its log. */
export async function auditAll(query: Query, size = SLICE): Promise<Findings> {
  const findings = await findViolations(query, ({ state }) => state);
  for (let position: Position | undefined = BEGINNING; position; ) {
    const step: AuditStep = await checkNext(query, position, size);
    findings.add(step.findings);
    position = step.next;
  }
  return findings;
}

/** Checks the present state and what isn't sealed, and seals what is right. */
export async function auditNew(query: Query, size = SLICE): Promise<Findings> {
  const findings = await findViolations(query, ({ state }) => state);
  for (const time of await unprovenTimes(query)) {
    const found = await checkTimes(query, time);
    if (found.violated.length === 0) await sealTime(query, time);
    findings.add(found);
  }
  for (let after = BEGINNING.account; ; ) {
    const parts = sliceOf(await readUnsealed(query, after, size), size);
    const last = parts.at(-1);
    if (!last) return findings;
    const found = await checkAccounts(query, parts, (proven) => sealAccounts(query, proven));
    findings.add(found);
    // The rest of a large account follows once its first part is proven.
    after = last.isOpen || found.violated.length > 0 ? last.accountId : (parts.at(-2)?.accountId ?? after);
  }
}

/**
 * Goes on with the audit of everything for `forMs`, or begins one if it is time. Breaks the seals of what it finds wrong.
 * @returns the position from which the next call goes on; undefined if none was under way or due.
 */
export async function continueRound(
  query: Query,
  { forMs = ROUND_MS, size = SLICE } = {},
): Promise<Position | 'ended' | undefined> {
  const began = performance.now();
  let position = await currentRound(query, EVERY);
  while (position) {
    const stepBegan = performance.now();
    const { times, accounts, findings, next } = await checkNext(query, position, size);
    if (findings.violated.length > 0) {
      if (times) await unsealTime(query, times);
      if (accounts) await unsealAccounts(query, accounts);
    } else if (accounts) {
      await sealAccounts(
        query,
        accounts.filter(({ start }) => start === '0'),
      );
    }
    await advanceRound(query, next);
    if (!next) return 'ended';
    if (performance.now() - began >= forMs) return next;
    position = next;
    // Leaves the database to others for as long.
    await delay(performance.now() - stepBegan);
  }
  return undefined;
}

function queryOf({ em }: ServiceContext): Query {
  return <Row>(statement: string) =>
    patiently(TIMEOUT_MS, () =>
      em.fork().transactional(async (inner) => {
        await limitStatements(inner, TIMEOUT_MS);
        // Enough for a slice without temporary files.
        await sql`select set_config('work_mem', '64MB', true), set_config('jit', 'off', true)`.execute(
          inner.getKysely(),
        );
        return (await sql.raw<Row>(statement).execute(inner.getKysely())).rows;
      }),
    );
}

function report({ log }: ServiceContext, { all, violated }: Findings): readonly Finding[] {
  for (const { invariant, violations, subjects } of violated)
    log.error(
      { invariant: invariant.name, guarantee: invariant.guarantee, violations, subjects },
      'a ledger invariant is violated',
    );
  return all;
}

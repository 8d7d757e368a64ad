import type { Pool } from 'pg';
import { checkInvariants } from '../../../support/invariants.js';
import { until } from '../../../support/until.js';
import type { Entry } from '../../rig/client.js';
import type { Rig } from '../../rig/rig.js';
import { INPUT_TOKENS } from '../../rig/upstream.js';
import type { Result } from '../goal.js';
import { STRANGERS } from './attacks/strangers-mails.js';
import type { MailCounts, Seen } from './messages.js';

const SETTLED_MS = 60_000;
/** The attackers' alerts wait behind their own hanging ones, longer than any other may. All honest alerts have arrived. */
const ATTACKERS_WAIT = 'I12-pending';
/** Mails per day to an unconfirmed address, and to an account's own address. */
const MOST_MAILS = { subscribed: 5, own: 50 };

interface Row {
  id: string;
  status: string;
  input_tokens: number;
  output_tokens: number;
  debits: string;
}

/** Checks that nothing of honest accounts was refused or lost, each call was charged once, and all books are correct. */
export async function judgeLosses(rig: Rig, watches: readonly Seen[], mails: MailCounts): Promise<Result[]> {
  const entries = watches.flatMap((seen) => seen.entries);
  const faults = watches.flatMap((seen) => seen.faults);
  const alerts = watches.reduce((sum, seen) => sum + seen.alerts, 0);
  const { pool } = rig.postgres;
  const whole = entries.filter((entry) => entry.complete);
  const wrong = () => mischarged(rig, pool, whole);
  await until(async () => (await wrong()).length === 0, {
    timeoutMs: SETTLED_MS,
    intervalMs: 1_000,
  }).catch(() => undefined);
  const charges = await wrong();
  const violations = (await checkInvariants(pool)).filter((one) => !one.startsWith(`${ATTACKERS_WAIT}:`));
  const listed = (list: readonly string[]): string =>
    list.length === 0 ? '0' : `${list.length}: ${list.slice(0, 5).join('; ')}`;
  const sent = { subscribed: mails[STRANGERS.subscribed] ?? 0, own: mails[STRANGERS.own] ?? 0 };
  return [
    {
      goal: 'FAIRNESS honest requests, alerts and live events',
      figure: 'none refused, none lost',
      reached: `${listed(faults)} of ${entries.length} calls, ${alerts} alerts and whatever else was asked`,
      ok: faults.length === 0,
    },
    {
      goal: 'FAIRNESS books',
      figure: 'each honest call charged once for what it used, 0 broken invariants but for waiting alerts',
      reached: `wrong ${listed(charges)} of ${whole.length}, broken invariants ${listed(violations)}`,
      ok: charges.length === 0 && violations.length === 0,
    },
    {
      goal: 'FAIRNESS mails to strangers',
      figure: `≤ ${MOST_MAILS.subscribed} to an address that was subscribed, ≤ ${MOST_MAILS.own} to one that was signed up`,
      reached: `${sent.subscribed} and ${sent.own}`,
      ok: sent.subscribed <= MOST_MAILS.subscribed && sent.own <= MOST_MAILS.own,
    },
  ];
}

/** Complete answers that aren't charged exactly once for the usage that the upstream reported. */
async function mischarged(rig: Rig, pool: Pool, whole: readonly Entry[]): Promise<string[]> {
  const { rows } = await pool.query<Row>(
    `select u.id, u.status, u.input_tokens, u.output_tokens, count(u.seq) as debits
     from usage_events u where u.id = any($1) group by u.id, u.status, u.input_tokens, u.output_tokens`,
    [whole.map(({ id }) => id)],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return whole.flatMap(({ id }) => {
    const row = byId.get(id!);
    const words = rig.upstream.forwarded.get(id!)?.order.words ?? 5;
    const right =
      row?.status === 'success' &&
      row.debits === '1' &&
      row.input_tokens === INPUT_TOKENS &&
      row.output_tokens === words;
    return right ? [] : `call ${id}`;
  });
}

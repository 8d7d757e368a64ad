import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { type Rig, startRig } from '../rig/rig.js';
import { addressIn, must, newAccount } from './fairness/accounts.js';
import { judgeTimes } from './fairness/bounds.js';
import { type Part, startPart } from './fairness/child.js';
import { PATRON } from './fairness/honest/top-ups.js';
import { judgeLosses } from './fairness/losses.js';
import type {
  Account,
  Attacked,
  AttackOrder,
  Effort,
  HonestOrder,
  MailCounts,
  Seen,
} from './fairness/messages.js';
import { largeTenantOf } from './fairness/tenant.js';
import { startUse } from './fairness/use.js';
import { type Result, scaled } from './goal.js';

const HONEST = 10;
const BLOCK = 20;
const QUIET_MS = 60_000;
const ATTACK_MS = 600_000;
const LARGE_EVENTS = 1_500_000;
/** Time until caches, connections and compiled code are warm. */
const WARM_MS = 5_000;
/** Attackers start this long before honest accounts are measured. */
const UNDER_WAY_MS = 2_000;

/** Ten honest accounts during all known attacks on the platform at once. */
export async function fairness(scale: number): Promise<Result[]> {
  tell(`load of the machine before: ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores`);
  const honest = startPart('honest');
  const attackers = startPart('attackers');
  let rig: Rig | undefined;
  try {
    const { smtpUrl } = await honest.order<{ smtpUrl: string }>('addresses');
    rig = await startRig('FAIRNESS', {
      ...{ whole: true, direct: true, seededPlans: true },
      env: {
        SMTP_URL: smtpUrl,
        MAIL_FROM: 'alerts@gateway.example',
        WEBHOOK_ALLOW_PRIVATE: '1',
        PASSWORD_HASH_PROFILE: 'owasp',
      },
      edgeEnv: { TRUST_PROXY: '127.0.0.1' },
    });
    const accounts = await honestAccounts(rig);
    await newAccount(rig.url, addressIn(BLOCK, HONEST), PATRON);
    const tenant = await largeTenantOf(rig, scaled(LARGE_EVENTS, scale, 150_000));
    const order: AttackOrder = { url: rig.url, tenant, victims: accounts.map(({ email }) => email) };
    await attackers.order('prepare', order);
    const { warm, quiet, attacked, done } = await watchBoth(rig, honest, attackers, accounts, scale);
    const mails = await honest.order<MailCounts>('mails');
    const losses = await judgeLosses(rig, [warm, quiet, attacked], mails);
    return [...judgeTimes(quiet.times, attacked.times), ...losses, judgeAttackers(done)];
  } finally {
    await Promise.all([honest.end(), attackers.end()]);
    await rig?.close();
  }
}

/** Ten accounts with a hundred dollars each on plan `team`. */
async function honestAccounts(rig: Rig): Promise<Account[]> {
  const accounts: Account[] = [];
  for (let n = 0; n < HONEST; n++) {
    const account = await newAccount(rig.url, addressIn(BLOCK, n));
    await must(rig.url, account, 'POST', '/api/billing/topup', { amount_usd: 100 });
    accounts.push(account);
  }
  await rig.postgres.pool.query(`update accounts set plan_id = 'team' where id = any($1)`, [
    accounts.map(({ accountId }) => accountId),
  ]);
  return accounts;
}

async function watchBoth(rig: Rig, honest: Part, attackers: Part, accounts: Account[], scale: number) {
  const watch = async (watchMs: number): Promise<Seen> => {
    const use = startUse([rig.edge, rig.platform, rig.jobs]);
    const order: HonestOrder = { url: rig.url, accounts, watchMs };
    const seen = await honest.order<Seen>('watch', order);
    tell(`watched: ${use()}; honest process ${effortOf(seen.effort)}; ${seen.faults.length} faults`);
    return seen;
  };
  const warm = await watch(WARM_MS);
  const quiet = await watch(scaled(QUIET_MS, scale, 20_000));
  await attackers.order('begin');
  await pause(UNDER_WAY_MS);
  const attacked = await watch(scaled(ATTACK_MS, scale, 60_000));
  const done = await attackers.order<Attacked>('end');
  tellAttacks(done);
  return { warm, quiet, attacked, done };
}

const tell = (line: string): void => void process.stderr.write(`FAIRNESS ${line}\n`);

const effortOf = ({ cores, loop }: Effort): string =>
  `${cores.toFixed(2)} cores, event loop ${(100 * loop).toFixed(0)} % busy`;

/** Without all of the attacks, the figures mean nothing. */
const judgeAttackers = ({ brokeOff, seconds, effort }: Attacked): Result => ({
  goal: 'FAIRNESS attackers',
  figure: 'all of them to the end',
  reached: `${seconds.toFixed(0)} s, ${effortOf(effort)}; broke off: ${brokeOff.length} ${brokeOff.slice(0, 3).join('; ')}`,
  ok: brokeOff.length === 0,
});

/** What the attackers did, and the responses that they got. */
function tellAttacks({ seconds, tally, effort }: Attacked): void {
  tell(`attackers: ${seconds.toFixed(0)} s, ${effortOf(effort)}`);
  for (const [attack, counts] of Object.entries(tally)) {
    const outcomes = Object.entries(counts).map(([outcome, count]) => `${outcome} × ${count}`);
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    tell(`- ${attack}: ${(all / seconds).toFixed(1)}/s (${outcomes.join(', ')})`);
  }
}

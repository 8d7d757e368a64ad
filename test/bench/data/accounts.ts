import { sha256 } from '../../../src/lib/crypto.js';
import { newId } from '../../../src/lib/ids.js';
import { newApiKey, shownParts } from '../../../src/lib/key-form.js';
import { newDataKey } from '../../../src/services/accounts/account-creation.js';
import type { Filling } from './fill.js';

/** Accounts with prompts, widgets and playground sessions, by rank, besides those that operations run as. */
const OWNERS = 500;
/** How much less each account calls than the one before it: the first makes a sixth of all calls of 5,000 accounts. */
const ZIPF = 1.1;
const PLANS = [
  { below: 50, plan: 'team' },
  { below: 500, plan: 'developer' },
  { below: 1_500, plan: 'pro' },
  { below: 3_000, plan: 'starter' },
  { below: Number.POSITIVE_INFINITY, plan: 'free' },
];
const BIGGEST_HAS_KEYS = 25;

export const BENCH_PASSWORD = 'correct horse battery staple';
/** Who the operations run as: each is an account of its own. */
export const WHO = ['biggest', 'small', 'admin'] as const;
export type Who = (typeof WHO)[number];
export const emailOf = (who: Who): string => `${who}@bench.example.com`;

/** The rank of an account by its calls, from 1. */
const rankOf = (who: Who, accounts: number): number =>
  ({ biggest: 1, small: Math.ceil(accounts / 2), admin: Math.ceil(accounts / 50) + 1 })[who];

/**
 * Accounts with their keys, and `bench_accounts`, which the other parts choose owners from: `nth` is the rank by
 * calls, the arrays are what a call of the account may name.
 */
export async function fillAccounts(filling: Filling): Promise<void> {
  const { client, size, from, envelopes, passwordHash, whose } = filling;
  const weights = Array.from({ length: size.accounts }, (_, i) => (i + 1) ** -ZIPF);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const named = new Map(whose === 'others' ? [] : WHO.map((who) => [rankOf(who, size.accounts), who]));
  const accounts = weights.map((weight, i) => {
    const id = newId();
    const who = named.get(i + 1);
    return {
      id,
      email: who ? emailOf(who) : `account-${i + 1}-${id.slice(-6)}@bench.example.com`,
      role: who === 'admin' ? 'admin' : 'user',
      password: who ? passwordHash : null,
      plan: PLANS.find(({ below }) => i < below)!.plan,
      dataKey: newDataKey(envelopes.dataKey, id),
      calls: (size.events * weight) / total,
    };
  });
  const column = <Name extends keyof (typeof accounts)[number]>(name: Name) =>
    accounts.map((one) => one[name]);
  await client.query(
    `insert into accounts (id, email, email_key, name, role, password_hash, plan_id, data_key_sealed, created_at)
     select id, email, email, 'Account ' || nth, role, password, plan, data_key, $1
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
       with ordinality as t(id, email, role, password, plan, data_key, nth)`,
    [
      from,
      column('id'),
      column('email'),
      column('role'),
      column('password'),
      column('plan'),
      column('dataKey'),
    ],
  );
  await client.query(
    `create unlogged table bench_accounts (nth int primary key, id uuid not null, calls float8 not null, owns boolean not null,
       models text[], keys uuid[] not null default '{}', widgets uuid[] not null default '{}', versions uuid[] not null default '{}')`,
  );
  await client.query(
    `insert into bench_accounts (nth, id, calls, owns, models)
     select nth, t.id, t.calls, nth <= ${OWNERS} or password_hash is not null, array(
       select public_name from models where public_name = any(allowed_models) order by kind, position)
     from unnest($1::uuid[], $2::float8[]) with ordinality as t(id, calls, nth)
       join accounts a on a.id = t.id join plans p on p.id = a.plan_id`,
    [column('id'), column('calls')],
  );
  await fillKeys(filling, column('id') as string[]);
}

async function fillKeys({ client, from }: Filling, accounts: readonly string[]): Promise<void> {
  const keys = accounts.flatMap((accountId, i) =>
    Array.from({ length: i === 0 ? BIGGEST_HAS_KEYS : i < 50 ? 8 : i < 500 ? 3 : 1 }, (_, nth) => {
      const key = newApiKey();
      return { id: newId(), accountId, name: `Key ${nth + 1}`, hash: sha256(key), ...shownParts(key) };
    }),
  );
  await client.query(
    `insert into api_keys (id, account_id, name, key_hash, key_prefix, last_four, status, created_at)
     select t.*, 'active', $1
     from unnest($2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $6::text[], $7::text[]) as t`,
    [
      from,
      keys.map(({ id }) => id),
      keys.map(({ accountId }) => accountId),
      keys.map(({ name }) => name),
      keys.map(({ hash }) => hash),
      keys.map(({ prefix }) => prefix),
      keys.map(({ lastFour }) => lastFour),
    ],
  );
  await client.query(
    `update bench_accounts b set keys = array(select id from api_keys k where k.account_id = b.id order by id)`,
  );
}

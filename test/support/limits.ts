import { EventEmitter } from 'node:events';
import { Pool } from 'pg';
import { Registry } from 'prom-client';
import { Accounts } from '../../src/inference/accounts.js';
import type { CatalogModel } from '../../src/inference/catalog.js';
import { DatabaseContact } from '../../src/inference/database-contact.js';
import { KeyCache, type KeyEntry } from '../../src/inference/keys/key-cache.js';
import { AccountState } from '../../src/inference/limits/account-state.js';
import { createLimits, type LimitTimeouts } from '../../src/inference/limits/create-limits.js';
import { EdgeIdentity } from '../../src/inference/limits/edge-identity.js';
import type { Admission, ClientConnection, Limits } from '../../src/inference/limits/limits.js';
import { PeriodSpend } from '../../src/inference/limits/period-spend.js';
import type { InspectedBody } from '../../src/inference/request/request-body.js';
import { type Clock, systemClock, utcDay } from '../../src/lib/clock.js';
import { createEnvelope } from '../../src/lib/crypto.js';
import { newId } from '../../src/lib/ids.js';
import { createLogger, type Logger } from '../../src/lib/logger.js';
import { DOLLAR, type Money } from '../../src/lib/money.js';
import type { FlushResult, UsageRecord } from '../../src/metering/usage-record.js';
import { TEST_SECRETS } from './secrets.js';
import { until } from './until.js';

/** One token in costs a thousandth of a cent, one out nothing: a hold is the input's tokens × 1e-5 dollars. */
export const UNIT: Money = DOLLAR / 100_000n;
const MODEL: CatalogModel = {
  publicName: 'm',
  kind: 'chat',
  contextWindow: 1_000_000,
  priceIn: UNIT,
  priceOut: 0n,
};

/** A body whose hold is `units`. */
export const bodyOf = (units: number): InspectedBody =>
  ({
    model: 'm',
    input: { bytes: units, images: 0, batchTokens: 0, promptTokens: units },
    maxTokens: 1,
    choices: 1,
    candidates: 1,
    movedTo: null,
  }) as InspectedBody;

/** A caller that a test can disconnect. */
export class TestCaller extends EventEmitter implements ClientConnection {
  destroyed = false;

  leave(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** Takes the place of the database to which edges flush. */
export class Ledger {
  seq = 1n;
  readonly #spend = new Map<string, Money>();
  constructor(public balance: Money) {}

  charge(cost: Money, day: string): void {
    this.balance -= cost;
    this.#spend.set(day, this.spendOn(day) + cost);
    if (cost > 0n) this.seq++;
  }

  spendOn(day: string): Money {
    return this.#spend.get(day) ?? 0n;
  }

  /** Spend of all days. */
  get spend(): Money {
    return [...this.#spend.values()].reduce((sum, spend) => sum + spend, 0n);
  }
}

export interface LimitsEdge {
  limits: Limits;
  registry: Registry;
  identity: EdgeIdentity;
  entry: KeyEntry;
  log: string[];
  /** Requests a call whose hold is `units`. */
  admit(units: number, caller?: TestCaller): Promise<Admission>;
  settle(admission: Admission, cost: Money): void;
  /** Reads balance and spend, as the cache does every few seconds. */
  readAgain(): Promise<void>;
  /** Commits all charges so far. */
  flush(): void;
  /** Charges that are not committed. */
  pending: Money[];
}

export interface LimitsEdgeOptions {
  redisUrl?: string;
  clock?: Clock;
  dailyLimit?: Money | null;
  requestsPerMinute?: number;
  accountId?: string;
  keyId?: string;
  upstreamTimeoutMs?: number;
  patience?: LimitTimeouts;
}

/** The limits of one edge over a ledger in memory, without HTTP around them. */
export async function limitsEdge(ledger: Ledger, options: LimitsEdgeOptions = {}): Promise<LimitsEdge> {
  const clock = options.clock ?? systemClock;
  const registry = new Registry();
  const identity = new EdgeIdentity();
  const account = new AccountState(
    options.accountId ?? newId(),
    ledger.balance,
    ledger.seq,
    options.requestsPerMinute ?? 1_000_000,
  );
  const day = new PeriodSpend();
  const today = () => utcDay(clock.now());
  day.observe(today(), ledger.spendOn(today()));
  const entry: KeyEntry = {
    hash: 'h',
    credential: { kind: 'api_key', id: options.keyId ?? newId() },
    active: true,
    dailyLimit: options.dailyLimit ?? null,
    virtualKeySealed: null,
    authorization: 'Bearer x',
    allowedModels: new Set(['m']),
    account,
    day,
    guard: null,
    readAt: clock.now(),
  };
  const lines: string[] = [];
  const silent = createLogger('edge', 'silent');
  const note = (_fields: unknown, message: string) => void lines.push(message);
  const log = Object.assign(Object.create(silent) as Logger, { info: note, warn: note, error: note });
  const cache = {
    async renew() {
      account.observe(ledger.balance, ledger.seq, clock.now());
      day.observe(today(), ledger.spendOn(today()), clock.now());
    },
    flushed(result: FlushResult) {
      for (const { cost, createdAt } of result.own) {
        account.pending -= cost;
        day.settled(cost, createdAt);
      }
      for (const { balance, seq } of result.accounts) account.committed(balance, seq);
      for (const keyDay of result.keyDays) day.committed(keyDay.day, keyDay.spend);
    },
  } as unknown as KeyCache;
  const limits = await createLimits({
    config: {
      redisUrl: options.redisUrl ?? null,
      upstreamTimeoutMs: options.upstreamTimeoutMs ?? 60_000,
      upstreamIdleMs: 0,
    },
    cache,
    catalog: {
      get: () => MODEL,
      all: () => [MODEL],
      names: new Set<string>(),
      reload: async () => undefined,
      stop: () => undefined,
    },
    routes: { fallbacksOf: () => [], version: () => 0 },
    clock,
    log,
    registry,
    identity,
    mayAdmit: () => true,
    timeouts: options.patience,
  });
  // If Redis is late, as on a busy machine, an edge starts without it.
  if (options.redisUrl) {
    const shared = registry.getSingleMetric('gateway_limits_shared')!;
    await until(async () => (await shared.get()).values[0]!.value === 1, { what: 'limits to be shared' });
  }
  let settledAt: number[] = [];
  const edge: LimitsEdge = {
    readAgain: () => cache.renew('h'),
    limits,
    registry,
    identity,
    entry,
    log: lines,
    pending: [],
    async admit(units, caller = new TestCaller()) {
      const body = bodyOf(units);
      return limits.admit(entry, body, caller, 'chat');
    },
    settle(admission, cost) {
      const createdAt = clock.now();
      edge.pending.push(cost);
      settledAt.push(createdAt);
      limits.settle(admission, cost, createdAt);
    },
    flush() {
      const ids = { accountId: account.id, keyId: entry.credential.id };
      const own = edge.pending.map((cost, nth) => ({ ...ids, cost, createdAt: settledAt[nth]! }));
      settledAt = [];
      edge.pending = [];
      for (const { cost, createdAt } of own) ledger.charge(cost, utcDay(createdAt));
      const days = new Set([today(), ...own.map(({ createdAt }) => utcDay(createdAt))]);
      limits.flushed({
        own: own as UsageRecord[],
        accounts: [{ id: account.id, balance: ledger.balance, seq: ledger.seq }],
        keyDays: [...days].map((name) => ({ keyId: ids.keyId, day: name, spend: ledger.spendOn(name) })),
        alerted: [],
      });
    },
  };
  return edge;
}

/**
 * Lets an edge that has read nothing of its account take over the charges of a dead process one by one. Each returns a
 * function that commits it.
 */
export function takingOver({ limits, entry }: LimitsEdge, ledger: Ledger): (cost: Money) => () => void {
  const keys = new KeyCache({
    pool: new Pool(),
    envelope: createEnvelope('virtual-key', TEST_SECRETS.ENCRYPTION_KEY),
    clock: systemClock,
    log: createLogger('edge', 'silent'),
    contact: new DatabaseContact(systemClock),
    accounts: new Accounts(),
  });
  keys.stop();
  const ids = { accountId: entry.account.id, keyId: entry.credential.id };
  return (cost) => {
    const createdAt = systemClock.now();
    limits.adoptCharge(keys.payerOf(ids.accountId, ids.keyId), cost, createdAt);
    return () => {
      const day = utcDay(createdAt);
      ledger.charge(cost, day);
      const result: FlushResult = {
        own: [{ ...ids, cost, createdAt } as UsageRecord],
        accounts: [{ id: ids.accountId, balance: ledger.balance, seq: ledger.seq }],
        keyDays: [{ keyId: ids.keyId, day, spend: ledger.spendOn(day) }],
        alerted: [],
      };
      keys.flushed(result);
      limits.flushed(result);
    };
  };
}

/** The outcome of a call: `admitted`, or the code of its refusal. */
export const outcomeOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'admitted',
    ({ code }: { code: string }) => code,
  );

/** Number of calls of one unit that are admitted until one is refused, and the reason. */
export async function exhaust(edge: LimitsEdge): Promise<[admitted: number, refusal: string]> {
  for (let admitted = 0; admitted < 1_000; admitted++) {
    const refusal = await outcomeOf(edge.admit(1));
    if (refusal !== 'admitted') return [admitted, refusal];
  }
  throw new Error('a thousand calls were admitted');
}

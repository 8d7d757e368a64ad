import { randomBytes } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.js';
import { sha256 } from '../lib/crypto.js';
import { inTime } from '../lib/in-time.js';
import type { Logger } from '../lib/logger.js';

const MAX_KNOWN = 100_000;
const MAX_UNKNOWN = 10_000;
/** A key that another process created is found after this time at the latest. */
const UNKNOWN_TTL_MS = 1_000;
/** A key that another process deleted stops working after this time, unless the database is down. */
const REFRESH_AFTER_MS = 5_000;
/** The statement timeout is enforced by the server, and a frozen server never answers. */
const QUERY_TIMEOUT_MS = 2_000;
const TOKEN_BYTES = 24;
const TOKEN_FORM = /^sk-[A-Za-z0-9_-]{10,200}$/;
const HASH_FORM = /^[0-9a-f]{64}$/;

export interface VirtualKeyInfo {
  /** SHA-256 of the key, hex; LiteLLM calls it `token`. */
  token: string;
  userId: string | null;
  keyAlias: string | null;
  createdAt: Date;
}

export type KeyCheck = 'known' | 'unknown' | 'unavailable';

/** Virtual keys: stored in the database by their SHA-256, with keys in use cached in memory. */
export interface VirtualKeys {
  /** Whether a bearer token, whose SHA-256 is `hash`, is a virtual key. A cached key needs no database. Never throws. */
  check(key: string, hash?: Buffer): KeyCheck | Promise<KeyCheck>;
  /** Owner of a key that `check` just found known: its account, or the key's hash if it has none. */
  ownerOf(key: string): string;
  /** Creates a key. @throws when the database can't be reached */
  generate(owner: {
    userId: string | null;
    keyAlias: string | null;
  }): Promise<{ key: string } & VirtualKeyInfo>;
  /** Removes keys, given in clear or as hashes, and returns those that existed. @throws as above */
  remove(keys: string[]): Promise<string[]>;
  /** @throws as above */
  info(key: string): Promise<VirtualKeyInfo | undefined>;
}

export interface VirtualKeysDeps {
  orm: MikroORM;
  clock: Clock;
  log: Logger;
}

interface Row {
  token_hash: Buffer;
  user_id: string | null;
  key_alias: string | null;
  created_at: Date | string;
}

interface Known {
  /** When the database last confirmed it. */
  confirmedAt: number;
  userId: string | null;
}

const hashOf = (key: string): Buffer => (HASH_FORM.test(key) ? Buffer.from(key, 'hex') : sha256(key));

const toInfo = (row: Row): VirtualKeyInfo => ({
  token: row.token_hash.toString('hex'),
  userId: row.user_id,
  keyAlias: row.key_alias,
  createdAt: new Date(row.created_at),
});

export function createVirtualKeys({ orm, clock, log }: VirtualKeysDeps): VirtualKeys {
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  const unknown = new LRUCache<string, number>({ max: MAX_UNKNOWN });
  const lookups = new Map<string, Promise<KeyCheck>>();
  /** Increases with every removal, so that a look-up that began before it can't bring a key back. */
  let removals = 0;
  const db = () => orm.em.fork().getKysely();

  const run = async <T>(query: RawBuilder<T>): Promise<T[]> =>
    (
      await inTime(
        query.execute(db()),
        QUERY_TIMEOUT_MS,
        () => new Error('the database did not answer in time'),
      )
    ).rows;

  const find = async (hash: Buffer): Promise<Row | undefined> => {
    const rows = await run(sql<Row>`
      select token_hash, user_id, key_alias, created_at from virtual_keys where token_hash = ${hash}`);
    return rows[0];
  };

  const lookUp = async (hash: Buffer, id: string): Promise<KeyCheck> => {
    const before = removals;
    try {
      const found = await find(hash);
      if (!found) {
        known.delete(id);
        unknown.set(id, clock.now());
        return 'unknown';
      }
      if (before === removals) known.set(id, { confirmedAt: clock.now(), userId: found.user_id });
      return 'known';
    } catch (error) {
      log.warn({ error }, 'a virtual key could not be looked up');
      return 'unavailable';
    }
  };

  const lookUpOnce = (hash: Buffer, id: string): Promise<KeyCheck> => {
    const running = lookups.get(id);
    if (running) return running;
    const lookup = lookUp(hash, id).finally(() => lookups.delete(id));
    lookups.set(id, lookup);
    return lookup;
  };

  return {
    check(key, hash = sha256(key)) {
      if (!TOKEN_FORM.test(key)) return 'unknown';
      const id = hash.toString('latin1');
      const entry = known.get(id);
      if (entry !== undefined) {
        if (clock.now() - entry.confirmedAt > REFRESH_AFTER_MS) {
          // Looked up at most once per period, even while the database is down; lookUp never rejects.
          entry.confirmedAt = clock.now();
          lookUpOnce(hash, id).catch(() => undefined);
        }
        return 'known';
      }
      const missedAt = unknown.get(id);
      if (missedAt !== undefined && clock.now() - missedAt < UNKNOWN_TTL_MS) return 'unknown';
      return lookUpOnce(hash, id);
    },

    ownerOf(key) {
      const id = sha256(key).toString('latin1');
      return known.get(id)?.userId ?? id;
    },

    async generate({ userId, keyAlias }) {
      const key = `sk-${randomBytes(TOKEN_BYTES).toString('base64url')}`;
      const hash = sha256(key);
      const createdAt = new Date(clock.now());
      await run(sql`insert into virtual_keys (token_hash, user_id, key_alias, created_at)
        values (${hash}, ${userId}, ${keyAlias}, ${createdAt.toISOString()})`);
      known.set(hash.toString('latin1'), { confirmedAt: clock.now(), userId });
      return { key, token: hash.toString('hex'), userId, keyAlias, createdAt };
    },

    async remove(keys) {
      const hashes = keys.map(hashOf);
      const rows = await run(sql<{ token_hash: Buffer }>`
        delete from virtual_keys where token_hash = any(${hashes}::bytea[]) returning token_hash`);
      removals++;
      for (const hash of hashes) known.delete(hash.toString('latin1'));
      const gone = new Set(rows.map((row) => row.token_hash.toString('latin1')));
      return keys.filter((_, index) => gone.has(hashes[index]!.toString('latin1')));
    },

    async info(key) {
      const row = await find(hashOf(key));
      return row && toInfo(row);
    },
  };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { call } from '../support/api.js';
import { createProduct, type Product } from '../support/product.js';
import { cpuMicros, family } from './machine.js';

/** Autovacuum gathers the statistics of a new database in its first minutes. */
const SETTLE_MS = 270_000;
const IDLE_MS = 120_000;
const KEPT_MS = 60_000;
const CUSTOMERS = 20;
const KEYS_OF_A_CUSTOMER = 10;
const CALLS = 300;
const CALL_EVERY_MS = 200;
/** Usage is written a moment after the response. */
const AFTERMATH_MS = 500;

interface Spent {
  seconds: number;
  walBytes: number;
  cpuMs: number;
}

/** What PostgreSQL writes and computes while `work` runs, checkpoints included. */
async function spent(product: Product, client: pg.Client, work: () => Promise<unknown>): Promise<Spent> {
  const server = Number(
    readFileSync(join(product.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1)[0],
  );
  const written = async (): Promise<number> => {
    const { rows } = await client.query<{ bytes: string }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes`,
    );
    return Number(rows[0]!.bytes);
  };
  const [walBefore, cpuBefore, began] = [await written(), cpuMicros(family(server)), performance.now()];
  await work();
  const seconds = (performance.now() - began) / 1_000;
  return {
    seconds,
    cpuMs: (cpuMicros(family(server)) - cpuBefore) / 1_000,
    walBytes: (await written()) - walBefore,
  };
}

async function chat(url: string, key: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gateway/fast',
      messages: [{ role: 'user', content: 'Hello!' }],
      max_tokens: 8,
    }),
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

async function listModels(url: string, key: string): Promise<void> {
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

async function keysOf(product: Product): Promise<string[]> {
  const keys: string[] = [];
  for (let i = 0; i < CUSTOMERS; i++) {
    const { token, key } = await product.customer();
    keys.push(key);
    while (keys.length % KEYS_OF_A_CUSTOMER !== 0) {
      const made = await call<{ key: string }>(product.url, 'POST', '/api/keys', {
        token,
        body: { name: 'more' },
      });
      keys.push(made.body.key);
    }
  }
  return keys;
}

/**
 * The database of a whole product (`npm start`): without a call, with 200 keys that were used a moment ago, and at five calls a
 * second of as many keys after a checkpoint. Takes ten minutes.
 */
export async function measureIdle(say: (text: string) => void, checkout?: string): Promise<void> {
  const product = await createProduct({}, checkout);
  await product.start();
  const client = new pg.Client(product.databaseUrl());
  const print = (what: string, { seconds, walBytes, cpuMs }: Spent): void =>
    say(
      `${what}: ${(walBytes / seconds).toFixed(0)} B/s of WAL, ${(cpuMs / seconds).toFixed(1)} ms/s of PostgreSQL's CPU`,
    );
  try {
    await client.connect();
    const keys = await keysOf(product);
    await chat(product.url, keys[0]!);
    await delay(SETTLE_MS);
    print('idle', await spent(product, client, () => delay(IDLE_MS)));
    // Not a call, whose traces autovacuum would work on.
    for (const key of keys) await listModels(product.url, key);
    print(`${keys.length} keys used a moment ago`, await spent(product, client, () => delay(KEPT_MS)));
    await client.query('checkpoint');
    const calls = await spent(product, client, async () => {
      for (let i = 0; i < CALLS; i++)
        await Promise.all([chat(product.url, keys[i % keys.length]!), delay(CALL_EVERY_MS)]);
      await delay(AFTERMATH_MS);
    });
    say(`5 calls a second after a checkpoint: ${(calls.walBytes / CALLS).toFixed(0)} B of WAL a call`);
  } finally {
    await client.end();
    await product.remove();
  }
}

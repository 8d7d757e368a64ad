import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { rollUpAt } from '../analytics/support.js';
import { createPayer, recordOf } from '../metering/support.js';
import type { TestDatabase } from '../support/database.js';

/** A Saturday at noon, and the hour before. */
export const NOW = Date.UTC(2026, 10, 21, 12, 30);
const LAST_HOUR = Date.UTC(2026, 10, 21, 11);

const FAILED = {
  status: 'error',
  errorCode: 'upstream_error',
  httpStatus: 502,
  outputTokens: 0,
  cost: 0n,
} as const;

/** Calls of one account to a model in the hour before `NOW`. */
export async function callModel(
  db: TestDatabase,
  model: string,
  count: number,
  changes: Partial<UsageRecord> = {},
): Promise<void> {
  const payer = await createPayer(db.pool);
  await flushBatch(
    db.pool,
    Array.from({ length: count }, (_, i) =>
      recordOf(payer, {
        createdAt: LAST_HOUR + i,
        servedModel: model,
        requestedModel: model,
        latencyMs: 20 + (i % 50),
        ...changes,
      }),
    ),
  );
}

/** Two ranked models, one of them with errors, and one with too few calls. */
export async function someCalls(db: TestDatabase): Promise<void> {
  await callModel(db, 'gateway/fast', 1_190);
  await callModel(db, 'gateway/fast', 44, FAILED);
  await callModel(db, 'gateway/qwen-pro', 120, { latencyMs: 900, stream: true, ttftMs: 40 });
  await callModel(db, 'gateway/embed', 99, { endpoint: 'embeddings', outputTokens: 0 });
  await rollUpAt(db, NOW);
}

const VOID = new Set(['area', 'base', 'br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'path', 'rect']);

/** What is wrong with a document: elements that aren't closed in order, ids and attributes that come twice. */
export function faultsOf(html: string): string[] {
  const faults: string[] = [];
  const open: string[] = [];
  const text = html.replace(/<!doctype html>|<script\b[^>]*>[\s\S]*?<\/script>/gi, '');
  for (const [tag, slash, name, attributes] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)\b([^>]*)>/g)) {
    if (slash) {
      const last = open.pop();
      if (last !== name) faults.push(`</${name}> closes <${last}>`);
      continue;
    }
    const names = [...attributes!.matchAll(/\s([a-z-]+)(?==|\s|$)/gi)].map(([, one]) => one!);
    if (new Set(names).size !== names.length && !attributes!.includes('content=')) faults.push(tag);
    if (!VOID.has(name!)) open.push(name!);
  }
  const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id!);
  faults.push(...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `id ${id} twice`));
  if (open.length > 0) faults.push(`not closed: ${open.join(', ')}`);
  return faults;
}

/** What readers see of a piece of HTML. */
export const textOf = (html: string): string =>
  html
    .replace(/<script\b[^>]*>[\s\S]*?<\/script>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ');

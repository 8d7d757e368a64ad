import { rollUpAt } from '../analytics/support.js';
import { callModel, FAILED, NOW } from '../leaderboard/support.js';
import type { TestDatabase } from '../support/database.js';

/** Two ranked models, one of them with errors, and one with too few calls. */
export async function someCalls(db: TestDatabase): Promise<void> {
  await callModel(db, 'gateway/fast', 1_190);
  await callModel(db, 'gateway/fast', 44, FAILED);
  await callModel(db, 'gateway/qwen-pro', 120, { latencyMs: 900, stream: true, ttftMs: 40 });
  await callModel(db, 'gateway/embed', 99, { endpoint: 'embeddings', outputTokens: 0 });
  await rollUpAt(db, NOW);
}

/** What readers see of a piece of HTML. */
export const textOf = (html: string): string =>
  html
    .replace(/<script\b[^>]*>[\s\S]*?<\/script>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ');

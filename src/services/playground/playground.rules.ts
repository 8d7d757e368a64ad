import { randomBytes } from 'node:crypto';
import { AppError } from '../../errors.js';
import { DAY_MS, dayStart, MINUTE_MS } from '../../lib/clock.js';

/**
 * Sessions that a list shows, unless it is the list of shared ones. As many unshared sessions are kept per account.
 */
export const KEPT_SESSIONS = 50;
/** Shared sessions are kept regardless of age, so their number is limited. */
export const SHARED_SESSIONS = 200;
/** Waiting and running runs of one account, over all processes. */
export const UNFINISHED_RUNS = 32;
/** A list shows this much of each text. */
export const LISTED_CHARACTERS = 1_000;
/** 144 bits (requirement T19). */
const SLUG_BYTES = 18;
const SLUG = /^[A-Za-z0-9_-]{24}$/;

export const newShareSlug = (): string => randomBytes(SLUG_BYTES).toString('base64url');
export const isSlug = (text: string): boolean => SLUG.test(text);

/** Binds a sealed text to its account, row and field (associated data of the envelope). */
export const promptField = (accountId: string, sessionId: string): string =>
  `account:${accountId}:playground_session:${sessionId}:prompt`;
export const systemPromptField = (accountId: string, sessionId: string): string =>
  `account:${accountId}:playground_session:${sessionId}:system_prompt`;
export const responseField = (accountId: string, runId: string): string =>
  `account:${accountId}:playground_run:${runId}:response`;
/** The same for messages between processes about runs in progress. */
export const liveField = (accountId: string, sessionId: string): string =>
  `account:${accountId}:playground_session:${sessionId}:live`;

/** Limits of an account. */
export interface Bounds {
  runsPerMinute: number;
  runsPerDay: number;
  outputTokensPerDay: number;
  inputTokensPerDay: number;
}

/** What a session needs: each of its runs may generate `maxTokens` and reads about `inputTokens`. */
export interface RequestedRuns {
  runs: number;
  maxTokens: number;
  inputTokens: number;
}

/** What an account has used of its limits. */
export interface Taken {
  runsInMinute: number;
  /** Time of the oldest start in the last minute, in milliseconds. */
  oldestStartMs: number | undefined;
  runsToday: number;
  outputTokensToday: number;
  inputTokensToday: number;
  unfinishedRuns: number;
}

const RUNS_PER_PLAN_RATE = 4;

/** Four times the plan's requests per minute unless the operator says otherwise. */
export const runsPerMinute = (configured: number | null, requestsPerMinute: number): number =>
  configured ?? RUNS_PER_PLAN_RATE * requestsPerMinute;

/**
 * Checks that the wanted runs may start.
 * @throws AppError `rate_limit_exceeded` with the limit that was reached.
 */
export function requireRunCapacity(
  taken: Taken,
  { runs, maxTokens, inputTokens }: RequestedRuns,
  bounds: Bounds,
  now: number,
): void {
  const refuse = (message: string, waitMs: number): never => {
    throw new AppError('rate_limit_exceeded', { message, retryAfterSeconds: waitMs / 1000 });
  };
  const untilTomorrow = dayStart(now) + DAY_MS - now;
  if (taken.unfinishedRuns + runs > UNFINISHED_RUNS) {
    refuse(`An account can have at most ${UNFINISHED_RUNS} unfinished runs. Wait for one to finish.`, 1_000);
  }
  if (taken.runsInMinute + runs > bounds.runsPerMinute) {
    refuse(
      `Your plan allows ${bounds.runsPerMinute} playground runs per minute, and ${taken.runsInMinute} were started in the last minute. Try again in a moment.`,
      Math.max(1_000, (taken.oldestStartMs ?? now) + MINUTE_MS - now),
    );
  }
  if (taken.runsToday + runs > bounds.runsPerDay) {
    refuse(
      `An account can start ${bounds.runsPerDay} playground runs per day, and ${taken.runsToday} were started today. The limit resets at 00:00 UTC.`,
      untilTomorrow,
    );
  }
  const left = Math.max(0, bounds.outputTokensPerDay - taken.outputTokensToday);
  if (runs * maxTokens > left) {
    refuse(
      `Playground runs of an account can generate ${bounds.outputTokensPerDay} tokens per day; ${left} are left, but ${runs} × max_tokens is ${runs * maxTokens}. Lower max_tokens, or wait until 00:00 UTC.`,
      untilTomorrow,
    );
  }
  const readable = Math.max(0, bounds.inputTokensPerDay - taken.inputTokensToday);
  if (runs * inputTokens > readable) {
    refuse(
      `Playground runs of an account can read ${bounds.inputTokensPerDay} tokens per day; ${readable} are left, but ${runs} × about ${inputTokens} is ${runs * inputTokens}. Shorten the prompt, or wait until 00:00 UTC.`,
      untilTomorrow,
    );
  }
}

/** @throws AppError `model_not_allowed`, or `validation_error` for a model that isn't a chat model. */
export function requireModels(
  names: readonly string[],
  plan: { id: string; allowedModels: readonly string[] },
  kindOf: (name: string) => 'chat' | 'embedding' | undefined,
): void {
  names.forEach((name, index) => {
    if (!plan.allowedModels.includes(name) || kindOf(name) === undefined) {
      throw new AppError('model_not_allowed', {
        message: `Your plan (${plan.id}) doesn't include ${name}. It includes ${plan.allowedModels.join(', ')}.`,
        param: `models.${index}`,
      });
    }
    if (kindOf(name) === 'embedding') {
      const message = `must be a chat model; ${name} is an embedding model`;
      throw new AppError('validation_error', { details: [{ field: `models.${index}`, message }] });
    }
  });
}

/** The part of a text that a list shows. */
export function beginningOf(text: string): string {
  if (text.length <= LISTED_CHARACTERS) return text;
  const last = text.charCodeAt(LISTED_CHARACTERS - 1);
  // Doesn't split a surrogate pair.
  const isHalf = last >= 0xd800 && last < 0xdc00;
  return text.slice(0, isHalf ? LISTED_CHARACTERS - 1 : LISTED_CHARACTERS);
}

import { randomUUID } from 'node:crypto';
import type { Client } from 'graphql-ws';
import type { Pool } from 'pg';
import { createEnvelopes } from '../../src/services/envelopes.js';
import { contentKey } from '../../src/services/playground/content.js';
import type {
  RunEventOutput,
  RunOutput,
  SessionOutput,
} from '../../src/services/playground/playground.outputs.js';
import { promptField, responseField } from '../../src/services/playground/playground.rules.js';
import { type Followed, follow } from '../graphql/support.js';
import { type ApiAnswer, call, type ErrorAnswer } from '../support/api.js';
import { TEST_SECRETS } from '../support/secrets.js';

export const FAST = 'gateway/fast';
export const QWEN = 'gateway/qwen-fast';
export const PRO = 'gateway/qwen-pro';
export const CODE = 'gateway/deepseek-code';

export type Session = SessionOutput;
export type Run = RunOutput;

type Asked = ApiAnswer<SessionOutput & ErrorAnswer>;

/** `POST /api/playground`: answers when all runs have ended. */
export const ask = (
  url: string,
  token: string,
  models: readonly string[],
  prompt: string,
  more: Record<string, unknown> = {},
): Promise<Asked> => call(url, 'POST', '/api/playground', { token, body: { prompt, models, ...more } });

/** The runs of a session by their model. */
export const byModel = ({ runs }: { runs: readonly Run[] }): Record<string, Run> =>
  Object.fromEntries(runs.map((run) => [run.model_public_name, run]));

export const START = `mutation ($input: RunPlaygroundInput!) {
  runPlayground(input: $input) { session { id runs { id modelPublicName status } } } }`;
export interface StartAnswer {
  runPlayground: { session: { id: string; runs: { id: string; modelPublicName: string; status: string }[] } };
}

const EVENTS = `subscription ($id: ID!) { playgroundRun(sessionId: $id) {
  sessionId runId modelPublicName status offset delta ttftMs
  run { id status responseContent ttftMs latencyMs inputTokens outputTokens costUsd listCostUsd errorCode errorMessage } } }`;

export interface RunEvent {
  sessionId: RunEventOutput['session_id'];
  runId: string;
  modelPublicName: string;
  status: string;
  offset: number;
  delta: string;
  ttftMs: number | null;
  run: null | {
    id: string;
    status: string;
    responseContent: string | null;
    ttftMs: number | null;
    latencyMs: number;
    inputTokens: number;
    outputTokens: number;
    costUsd: string;
    listCostUsd: string;
    errorCode: string | null;
    errorMessage: string | null;
  };
}

export interface Watched {
  followed: Followed<{ playgroundRun: RunEvent }>;
  events(): RunEvent[];
  /** The text of each run by its id, put together as the description of the subscription says. */
  texts(): Record<string, string>;
  /** The complete runs received, by model. */
  ends(): Record<string, NonNullable<RunEvent['run']>>;
}

/** Follows a session. */
export function watch(client: Client, id: string): Watched {
  const followed = follow<{ playgroundRun: RunEvent }>(client, EVENTS, { id });
  const events = () => followed.results.flatMap(({ data }) => (data ? [data.playgroundRun] : []));
  return {
    followed,
    events,
    texts() {
      const texts: Record<string, string> = {};
      for (const { runId, offset, delta } of events()) {
        texts[runId] = (texts[runId] ?? '').slice(0, offset) + delta;
      }
      return texts;
    },
    ends: () =>
      Object.fromEntries(
        events().flatMap(({ modelPublicName, run }) => (run ? [[modelPublicName, run]] : [])),
      ),
  };
}

async function keyOf(pool: Pool, accountId: string) {
  const { rows } = await pool.query<{ sealed: string }>(
    'select data_key_sealed as sealed from accounts where id = $1',
    [accountId],
  );
  const envelopes = createEnvelopes({
    encryptionKey: TEST_SECRETS.ENCRYPTION_KEY,
    encryptionKeyPrevious: undefined,
  });
  return contentKey(envelopes.dataKey, accountId, rows[0]!.sealed);
}

/** Puts other words into the mouth of a model that has answered. */
export async function writeResponse(
  pool: Pool,
  { accountId, runId, text }: { accountId: string; runId: string; text: string },
): Promise<void> {
  const key = await keyOf(pool, accountId);
  await pool.query('update playground_runs set response_sealed = $2 where id = $1', [
    runId,
    key.seal(text, responseField(accountId, runId)),
  ]);
}

/** A session as the product writes it, for tests without a model to ask. */
export async function writeSession(pool: Pool, accountId: string, prompt: string): Promise<string> {
  const key = await keyOf(pool, accountId);
  const id = randomUUID();
  await pool.query(
    `insert into playground_sessions (id, account_id, prompt_sealed, parameters, created_at)
     values ($1, $2, $3, '{"max_tokens": 1}', now())`,
    [id, accountId, key.seal(prompt, promptField(accountId, id))],
  );
  return id;
}

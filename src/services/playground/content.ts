import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { PlaygroundRun } from '../../entities/playground/playground-run.js';
import type { PlaygroundSession } from '../../entities/playground/playground-session.js';
import { AppError } from '../../errors.js';
import { formatTimestamp } from '../../lib/clock.js';
import { createEnvelope, type Envelope, openOrNothing } from '../../lib/crypto.js';
import { formatDecimal } from '../../lib/money.js';
import { dataKeyField } from '../keys/keys.rules.js';
import type { RunOutput, SessionOutput, SharedSessionOutput } from './playground.outputs.js';
import { beginningOf, promptField, responseField, systemPromptField } from './playground.rules.js';

/** Seals and opens the texts of one account. */
export type ContentKey = Pick<Envelope, 'seal' | 'open'>;

/** The key of an account's texts; undefined once the account is deleted. */
export async function contentKeyOf(
  em: EntityManager,
  accountId: string,
  dataKeys: Envelope,
): Promise<ContentKey | undefined> {
  const { rows } = await sql<{ sealed: string | null }>`
    select data_key_sealed as sealed from accounts where id = ${accountId} and deleted_at is null`.execute(
    em.getKysely(),
  );
  const sealed = rows[0]?.sealed;
  return sealed ? contentKey(dataKeys, accountId, sealed) : undefined;
}

/** The key of an account's texts, from its sealed data key. @throws AppError as `openOrRefuse` */
export const contentKey = (dataKeys: Envelope, accountId: string, sealed: string): ContentKey =>
  createEnvelope('content', openOrRefuse(dataKeys, sealed, dataKeyField(accountId)));

/**
 * Opens a sealed text of an account's playground.
 * @throws AppError `service_unavailable` when it was sealed with an ENCRYPTION_KEY that this process doesn't have
 */
export function openOrRefuse(envelope: Envelope, sealed: string, field: string): Buffer {
  const plain = openOrNothing(envelope, sealed, field);
  if (plain) return plain;
  throw new AppError('service_unavailable', {
    message:
      "Your playground can't be decrypted, since the encryption key of this installation has changed. Ask its operator to restore the former key, or to reset the playground.",
    cause: new Error(`${field} can't be decrypted with ENCRYPTION_KEY or ENCRYPTION_KEY_PREVIOUS`),
  });
}

/** A run as its owner sees it. */
export function runView(run: PlaygroundRun, accountId: string, key: ContentKey): RunOutput {
  const { responseSealed } = run;
  return {
    id: run.id,
    model_public_name: run.modelPublicName,
    served_model_public_name: run.servedModel ?? null,
    status: run.status,
    response_content:
      responseSealed == null
        ? null
        : key.open(responseSealed, responseField(accountId, run.id)).toString('utf8'),
    finish_reason: run.finishReason ?? null,
    latency_ms: run.latencyMs ?? null,
    ttft_ms: run.ttftMs ?? null,
    input_tokens: run.inputTokens,
    output_tokens: run.outputTokens,
    cost_usd: formatDecimal(run.costUsd),
    list_cost_usd: formatDecimal(run.listCostUsd),
    error_code: run.errorCode ?? null,
    error_message: run.errorMessage ?? null,
  };
}

/** A session as visitors with its link see it. */
export function sharedView(
  session: PlaygroundSession,
  runs: readonly PlaygroundRun[],
  key: ContentKey,
): SharedSessionOutput {
  const { id, accountId, parameters } = session;
  const open = (sealed: string, field: string): string => key.open(sealed, field).toString('utf8');
  return {
    prompt: open(session.promptSealed, promptField(accountId, id)),
    system_prompt:
      session.systemPromptSealed == null
        ? null
        : open(session.systemPromptSealed, systemPromptField(accountId, id)),
    models: runs.map(({ modelPublicName }) => modelPublicName),
    parameters: {
      temperature: parameters.temperature ?? null,
      max_tokens: parameters.max_tokens,
      top_p: parameters.top_p ?? null,
    },
    runs: runs.map((run) => runView(run, accountId, key)),
    created_at: formatTimestamp(session.createdAt),
  };
}

/** A session as its owner sees it. */
export function sessionView(
  session: PlaygroundSession,
  runs: readonly PlaygroundRun[],
  key: ContentKey,
  publicUrl: (slug: string) => string,
): SessionOutput {
  const { id, shared, shareSlug } = session;
  return {
    id,
    ...sharedView(session, runs, key),
    shared,
    share_slug: shareSlug ?? null,
    public_url: shared && shareSlug != null ? publicUrl(shareSlug) : null,
    truncated: false,
  };
}

/** A session in a list, with the beginning of each text. */
export function listedView(session: SessionOutput): SessionOutput {
  let truncated = false;
  const cut = <Text extends string | null>(text: Text): Text | string => {
    if (text === null) return text;
    const beginning = beginningOf(text);
    truncated ||= beginning.length < text.length;
    return beginning;
  };
  return {
    ...session,
    prompt: cut(session.prompt),
    system_prompt: cut(session.system_prompt),
    runs: session.runs.map((run) => ({ ...run, response_content: cut(run.response_content) })),
    truncated,
  };
}

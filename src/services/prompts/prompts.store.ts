import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { Prompt } from '../../entities/prompts/prompt.js';
import { PromptActivation } from '../../entities/prompts/prompt-activation.js';
import { PromptVersion } from '../../entities/prompts/prompt-version.js';
import { formatTimestamp } from '../../lib/clock.js';
import {
  type ConnectionPage,
  pageOfRows,
  type TimeConnectionInput,
  timeCursor,
} from '../../lib/connection-input.js';
import type { SizedEntry } from '../../lib/in-pieces.js';
import type { PageInput } from '../../lib/page-input.js';
import { uuidOf } from '../../lib/uuid.js';
import { isAfter } from '../list-position.store.js';
import type { PromptActivationOutput, PromptOutput, PromptVersionOutput } from './prompts.outputs.js';
import { MAX_ACTIVATIONS, warningsOf } from './prompts.rules.js';

/** Text that can't be a slug never reaches the database, which rejects NUL. */
const SLUG = /^[a-z0-9-]{1,80}$/;
const NO_SLUG = '';

/** Condition for the prompt of an account with an id or a slug. */
export const promptWhere = (accountId: string, ref: string) => {
  const id = uuidOf(ref);
  return id === undefined ? { accountId, slug: SLUG.test(ref) ? ref : NO_SLUG } : { accountId, id };
};

export function findPrompt(em: EntityManager, accountId: string, ref: string): Promise<Prompt | null> {
  return em.findOne(Prompt, promptWhere(accountId, ref), UNTRACKED);
}

/** The prompt, locked until the transaction ends. Changes to the entity are written at the end. */
export function lockPrompt(em: EntityManager, accountId: string, ref: string): Promise<Prompt | null> {
  return em.findOne(Prompt, promptWhere(accountId, ref), {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    refresh: true,
  });
}

export function findVersion(
  em: EntityManager,
  promptId: string,
  which: { id: string } | { version: number },
): Promise<PromptVersion | null> {
  return em.findOne(PromptVersion, { promptId, ...which }, UNTRACKED);
}

/** Approximate size of a version's texts in bytes. PostgreSQL knows the length of a text without reading it. */
const bytesOfVersion = sql`octet_length(v.content) + octet_length(v.variables::text) + coalesce(octet_length(v.notes), 0)`;

/** Ids and sizes of all versions, newest first, without their texts. */
export async function sizeVersions(em: EntityManager, promptId: string): Promise<SizedEntry[]> {
  const { rows } = await sql<SizedEntry>`
    select v.id, ${bytesOfVersion} as bytes from prompt_versions v
    where v.prompt_id = ${promptId} order by v.version desc`.execute(em.getKysely());
  return rows;
}

/** The versions of a prompt with these ids, newest first. */
export function findVersions(
  em: EntityManager,
  promptId: string,
  ids: readonly string[],
): Promise<PromptVersion[]> {
  return em.find(
    PromptVersion,
    { promptId, id: { $in: [...ids] } },
    { ...UNTRACKED, orderBy: { version: 'desc' } },
  );
}

/** Slugs of an account that a new slug could collide with. */
export async function takenSlugs(em: EntityManager, accountId: string): Promise<Set<string>> {
  const prompts = await em.find(Prompt, { accountId }, { ...UNTRACKED, fields: ['slug'] });
  return new Set(prompts.map(({ slug }) => slug));
}

/**
 * Locks an account until the transaction ends, so that the total size of its prompts grows by one version at a time.
 */
export async function lockPromptsOwner(em: EntityManager, accountId: string): Promise<void> {
  await sql`select 1 from accounts where id = ${accountId} for no key update`.execute(em.getKysely());
}

/** Total characters of all prompts of an account. */
export async function charactersOfPrompts(em: EntityManager, accountId: string): Promise<number> {
  const { rows } = await sql<{ characters: number }>`
    select coalesce(sum(characters), 0)::float8 as characters from prompts
    where account_id = ${accountId}`.execute(em.getKysely());
  return rows[0]!.characters;
}

/** Whether a version belongs to one of the account's prompts. `id` must be a UUID. */
export async function ownsVersion(em: EntityManager, accountId: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from prompt_versions v join prompts p on p.id = v.prompt_id
    where v.id = ${id} and p.account_id = ${accountId}`.execute(em.getKysely());
  return rows.length > 0;
}

type Row = Omit<PromptOutput, 'active_version' | 'created_at' | 'updated_at'> & {
  /** Microseconds. */
  created_us: string;
  updated_ms: number;
  version: number;
  content: string;
  variables: PromptVersionOutput['variables'];
  config: PromptVersionOutput['config'];
  notes: string | null;
  version_ms: number;
};

const selectPrompts = async (em: EntityManager, which: RawBuilder<unknown>): Promise<Row[]> => {
  const { rows } = await sql<Row>`
    select p.id, p.slug, p.name, p.description, v.id as active_version_id, p.last_version as version_count, p.revision,
      (extract(epoch from p.created_at) * 1000000)::bigint::text as created_us,
      floor(extract(epoch from p.updated_at) * 1000)::float8 as updated_ms,
      v.version, v.content, v.variables, v.config, v.notes,
      floor(extract(epoch from v.created_at) * 1000)::float8 as version_ms
    from prompts p join prompt_versions v on v.prompt_id = p.id and v.version = p.active_version
    ${which}`.execute(em.getKysely());
  return rows;
};

/** Condition for prompts whose name, slug or description contains a text. */
const matching = (search: string | null | undefined): RawBuilder<unknown> => {
  if (!search) return sql``;
  const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  return sql`and (p.name ilike ${pattern} or p.slug ilike ${pattern} or p.description ilike ${pattern})`;
};

/** Ids and sizes of an account's prompts with their active versions, newest first, without their texts. */
export async function sizePrompts(
  em: EntityManager,
  { accountId, search, limit, offset }: { accountId: string; search?: string | null | undefined } & PageInput,
): Promise<SizedEntry[]> {
  const { rows } = await sql<SizedEntry>`
    select p.id, coalesce(octet_length(p.description), 0) + ${bytesOfVersion} as bytes
    from prompts p join prompt_versions v on v.prompt_id = p.id and v.version = p.active_version
    where p.account_id = ${accountId} ${matching(search)}
    order by p.created_at desc, p.id desc limit ${limit} offset ${offset}::bigint`.execute(em.getKysely());
  return rows;
}

/** A page of prompts by cursor. */
export async function pagePrompts(
  em: EntityManager,
  query: { accountId: string; search?: string | null | undefined } & TimeConnectionInput,
): Promise<ConnectionPage<PromptOutput>> {
  const { accountId, search, first, after } = query;
  const rows = await selectPrompts(
    em,
    sql`where p.account_id = ${accountId} ${matching(search)} ${after ? sql`and ${isAfter('p', after)}` : sql``}
      order by p.created_at desc, p.id desc limit ${first + 1}`,
  );
  return pageOfRows(rows, first, (row) => ({
    cursor: timeCursor({ createdUs: row.created_us, id: row.id }),
    node: toPrompt(row),
  }));
}

/** The prompts of the account with these ids, newest first. Each id must be a UUID. */
export async function findPrompts(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<PromptOutput[]> {
  const rows = await selectPrompts(
    em,
    sql`where p.account_id = ${accountId} and p.id = any(${ids}::uuid[]) order by p.created_at desc, p.id desc`,
  );
  return rows.map(toPrompt);
}

/** Id and revision of each prompt of an account. */
export async function promptRevisions(em: EntityManager, accountId: string): Promise<Map<string, number>> {
  const prompts = await em.find(Prompt, { accountId }, { ...UNTRACKED, fields: ['id', 'revision'] });
  return new Map(prompts.map(({ id, revision }) => [id, revision]));
}

/** The newest activations of a prompt. */
export async function listActivations(
  em: EntityManager,
  promptId: string,
  { limit, offset }: PageInput,
): Promise<PromptActivationOutput[]> {
  const moves = await em.find(
    PromptActivation,
    { promptId },
    { ...UNTRACKED, orderBy: { revision: 'desc' }, limit, offset: Math.min(offset, MAX_ACTIVATIONS) },
  );
  return moves.map(({ fromVersion, toVersion, byAccountId, at }) => ({
    from_version: fromVersion,
    to_version: toVersion,
    by: byAccountId,
    at: formatTimestamp(at.getTime()),
  }));
}

/** Deletes the oldest activations beyond the number that is kept. */
export async function trimActivations(em: EntityManager, promptId: string): Promise<void> {
  await sql`
    delete from prompt_activations where prompt_id = ${promptId} and revision <= (
      select revision from prompt_activations where prompt_id = ${promptId}
      order by revision desc offset ${MAX_ACTIVATIONS} limit 1)`.execute(em.getKysely());
}

export function toVersion(version: PromptVersion): PromptVersionOutput {
  const { id, version: number, content, variables, config, notes, createdAt } = version;
  return {
    id,
    version: number,
    content,
    variables,
    config: config ?? null,
    notes: notes ?? null,
    warnings: warningsOf(content, variables),
    created_at: formatTimestamp(createdAt.getTime()),
  };
}

function toPrompt(row: Row): PromptOutput {
  const { id, slug, name, description, active_version_id, version_count, revision } = row;
  return {
    ...{ id, slug, name, description, active_version_id, version_count, revision },
    active_version: {
      id: active_version_id,
      version: row.version,
      content: row.content,
      variables: row.variables,
      config: row.config,
      notes: row.notes,
      warnings: warningsOf(row.content, row.variables),
      created_at: formatTimestamp(row.version_ms),
    },
    created_at: formatTimestamp(Math.floor(Number(row.created_us) / 1000)),
    updated_at: formatTimestamp(row.updated_ms),
  };
}

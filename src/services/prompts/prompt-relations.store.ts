import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { formatTimestamp } from '../../lib/clock.js';
import {
  type ConnectionPage,
  pageOfRows,
  type SequenceConnectionInput,
  sequenceCursor,
} from '../../lib/connection-input.js';
import type { PromptActivationOutput, PromptVersionOutput } from './prompts.outputs.js';
import { MAX_VERSIONS, warningsOf } from './prompts.rules.js';

/** Prompts of one account. Ids must be UUIDs. */
interface Prompts {
  accountId: string;
  ids: readonly string[];
}

interface VersionRow extends Omit<PromptVersionOutput, 'warnings' | 'created_at'> {
  prompt_id: string;
  created_ms: number;
}

/** The same page of versions of several prompts, newest first, in one statement. */
export async function pageVersionsOf(
  em: EntityManager,
  { accountId, ids, first, after }: Prompts & SequenceConnectionInput,
): Promise<Map<string, ConnectionPage<PromptVersionOutput>>> {
  const below = Math.min(Number(after ?? MAX_VERSIONS + 1), MAX_VERSIONS + 1);
  const { rows } = await sql<VersionRow>`
    select v.* from prompts p cross join lateral (
      select prompt_id, id, version, content, variables, config, notes,
        floor(extract(epoch from created_at) * 1000)::float8 as created_ms
      from prompt_versions where prompt_id = p.id and version < ${below}
      order by version desc limit ${first + 1}) v
    where p.account_id = ${accountId} and p.id = any(${ids}::uuid[])
    order by v.prompt_id, v.version desc`.execute(em.getKysely());
  const byPrompt = Map.groupBy(rows, (row) => row.prompt_id);
  return new Map([...byPrompt].map(([promptId, list]) => [promptId, toPage(list, first)]));
}

const toPage = (rows: readonly VersionRow[], first: number): ConnectionPage<PromptVersionOutput> =>
  pageOfRows(rows, first, ({ prompt_id: _, created_ms, ...version }) => ({
    cursor: sequenceCursor(String(version.version)),
    node: {
      ...version,
      warnings: warningsOf(version.content, version.variables),
      created_at: formatTimestamp(created_ms),
    },
  }));

type ActivationRow = Omit<PromptActivationOutput, 'at'> & { prompt_id: string; at_ms: number };

/** The newest activations of several prompts, in one statement. */
export async function listActivationsOf(
  em: EntityManager,
  { accountId, ids, limit }: Prompts & { limit: number },
): Promise<Map<string, PromptActivationOutput[]>> {
  const { rows } = await sql<ActivationRow>`
    select a.prompt_id, a.from_version, a.to_version, a.by_account_id as by,
      floor(extract(epoch from a.at) * 1000)::float8 as at_ms
    from prompts p cross join lateral (
      select * from prompt_activations where prompt_id = p.id order by revision desc limit ${limit}) a
    where p.account_id = ${accountId} and p.id = any(${ids}::uuid[])
    order by a.prompt_id, a.revision desc`.execute(em.getKysely());
  const byPrompt = Map.groupBy(rows, (row) => row.prompt_id);
  const toActivation = ({ prompt_id: _, at_ms, ...move }: ActivationRow): PromptActivationOutput => ({
    ...move,
    at: formatTimestamp(at_ms),
  });
  return new Map([...byPrompt].map(([promptId, list]) => [promptId, list.map(toActivation)]));
}

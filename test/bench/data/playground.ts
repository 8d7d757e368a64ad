import { newId } from '../../../src/lib/ids.js';
import { contentKey } from '../../../src/services/playground/content.js';
import {
  newShareSlug,
  promptField,
  responseField,
} from '../../../src/services/playground/playground.rules.js';
import type { Filling } from './fill.js';

const HOUR_MS = 3_600_000;
const MODELS = ['gateway/fast', 'gateway/qwen-fast'];

/** Sessions with two answers each, their texts sealed as the product seals them. */
export async function fillPlayground({ client, envelopes, now }: Filling): Promise<void> {
  const { rows: owners } = await client.query<{ id: string; nth: number; sealed: string }>(
    `select b.id, nth, data_key_sealed as sealed from bench_accounts b join accounts a on a.id = b.id
     where owns`,
  );
  const sessions = owners.flatMap(({ id: accountId, nth, sealed }) => {
    const key = contentKey(envelopes.dataKey, accountId, sealed);
    return Array.from({ length: nth === 1 ? 500 : 4 }, (_, i) => {
      const id = newId();
      const runs = MODELS.map((model, position) => {
        const runId = newId();
        const answer = `Answer ${i + 1} of ${model}. `.repeat(20);
        return { id: runId, model, position, answer: key.seal(answer, responseField(accountId, runId)) };
      });
      const prompt = key.seal(`Question ${i + 1}: how does billing work?`, promptField(accountId, id));
      const at = new Date(now.getTime() - (i + 1) * 13 * HOUR_MS);
      return { id, accountId, prompt, slug: i % 10 === 0 ? newShareSlug() : null, at, runs };
    });
  });
  await client.query(
    `insert into playground_sessions (id, account_id, prompt_sealed, parameters, share_slug, shared, created_at)
     select id, account_id, prompt, '{"max_tokens": 500}', slug, slug is not null, at
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[]) as t(id, account_id, prompt, slug, at)`,
    [
      sessions.map(({ id }) => id),
      sessions.map(({ accountId }) => accountId),
      sessions.map(({ prompt }) => prompt),
      sessions.map(({ slug }) => slug),
      sessions.map(({ at }) => at),
    ],
  );
  const runs = sessions.flatMap((session) => session.runs.map((run) => ({ ...run, session: session.id })));
  await client.query(
    `insert into playground_runs (id, session_id, position, model_public_name, served_model, status, response_sealed,
       finish_reason, latency_ms, ttft_ms, input_tokens, output_tokens, list_cost_usd, alive_until)
     select id, session, position, model, model, 'success', answer, 'stop', 900, 200, 40, 120, 0.00004, $6
     from unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::text[]) as t(id, session, position, model, answer)`,
    [
      runs.map(({ id }) => id),
      runs.map(({ session }) => session),
      runs.map(({ position }) => position),
      runs.map(({ model }) => model),
      runs.map(({ answer }) => answer),
      now,
    ],
  );
  await client.query(
    `insert into playground_days (account_id, day, runs, output_tokens, input_tokens)
     select account_id, (created_at at time zone 'UTC')::date, count(*), sum(r.output_tokens), sum(r.input_tokens)
     from bench_accounts b join playground_sessions s on s.account_id = b.id join playground_runs r on r.session_id = s.id
     group by 1, 2`,
  );
}

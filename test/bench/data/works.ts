import { newId } from '../../../src/lib/ids.js';
import { newPublicKey } from '../../../src/services/widgets/widgets.rules.js';
import type { Filling } from './fill.js';

/** Prompts with versions and activations, and widgets: what calls name besides their key. */
export async function fillWorks(filling: Filling): Promise<void> {
  await fillPrompts(filling);
  await fillWidgets(filling);
  await filling.client.query(
    `update bench_accounts b set
       versions = array(select v.id from prompts p join prompt_versions v on v.prompt_id = p.id
         where p.account_id = b.id order by p.created_at, v.version),
       widgets = array(select id from widgets w where w.account_id = b.id)
     where owns`,
  );
}

async function fillPrompts({ client, from, now }: Filling): Promise<void> {
  await client.query(
    `with made as (
       insert into prompts (id, account_id, slug, name, description, active_version, last_version, characters, revision,
         created_at, updated_at)
       select uuidv7(at - $2), b.id, 'prompt-' || n, 'Prompt ' || n, 'Answers question ' || n, newest, newest,
         newest * 420, newest, at, $2
       from bench_accounts b
         cross join lateral generate_series(1, case when nth = 1 then 120 else 3 end) n
         cross join lateral (select case when nth = 1 and n <= 3 then 40 else 1 + n % 4 end as newest,
           $1::timestamptz + n * interval '1 hour' as at) v
       where owns
       returning *
     ), versions as (
       insert into prompt_versions (id, prompt_id, version, content, variables, config, notes, created_at)
       select uuidv7(created_at + v * interval '1 hour' - $2), id, v,
         rpad('Answer the question about {{topic}} briefly. ', 420, 'Use plain words and short sentences. '),
         '[{"name": "topic", "description": null, "default": "billing"}]',
         '{"model_public_name": "gateway/fast", "temperature": 0.2, "max_tokens": 500, "top_p": null}',
         'Version ' || v, created_at + v * interval '1 hour'
       from made cross join lateral generate_series(1, last_version) v)
     insert into prompt_activations (prompt_id, revision, from_version, to_version, by_account_id, at)
     select id, v, v - 1, v, account_id, created_at + v * interval '1 hour'
     from made cross join lateral generate_series(2, last_version) v`,
    [from, now],
  );
}

async function fillWidgets({ client, from }: Filling): Promise<void> {
  const { rows } = await client.query<{ id: string; nth: number }>(
    'select id, nth from bench_accounts where owns',
  );
  const owners = rows.flatMap(({ id, nth }) => Array<string>(nth === 1 ? 10 : 1).fill(id));
  await client.query(
    `insert into widgets (id, account_id, public_key, name, model_public_name, system_prompt, greeting_message,
       placeholder, primary_color, position, allowed_domains, rate_limit_per_minute, daily_message_limit,
       verified_history, monthly_limit_usd, created_at, updated_at)
     select id, account_id, key, 'Widget ' || nth, 'gateway/fast', 'You answer questions of customers.', 'Hello!',
       'Ask', '#224466', 'bottom-right', '{}', 20, 1000000, true, 100000, $1, $1
     from unnest($2::uuid[], $3::uuid[], $4::text[]) with ordinality as t(id, account_id, key, nth)`,
    [from, owners.map(() => newId()), owners, owners.map(() => newPublicKey())],
  );
}

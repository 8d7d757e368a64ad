import type { MikroORM } from '@mikro-orm/postgresql';

/**
 * What MikroORM would drop because entities don't declare it: checks and triggers, which only migrations create. A
 * new check or trigger fails until it is listed here.
 */
const ONLY_IN_MIGRATIONS: readonly string[] = [
  ...checks('accounts', 'low_balance_threshold_usd_check', 'role_check', 'status_check'),
  ...checks('alert_events', 'check', 'check1', 'check2', 'check3'),
  ...checks('alert_events', 'delivery_status_check', 'kind_check', 'purpose_check', 'guard_check'),
  ...checks('alert_mails', 'standing_check'),
  ...checks('alert_subscriptions', 'check', 'kind_check', 'thresholds_pct_check'),
  ...checks('api_keys', 'daily_limit_usd_check', 'monthly_limit_usd_check', 'status_check'),
  ...checks('admin_actions', 'source_check'),
  ...checks('audit_rounds', 'only_row_check'),
  ...checks('former_usage', 'only_row_check'),
  ...checks('gpu_nodes', 'health_status_check', 'hourly_cost_usd_check', 'status_check'),
  ...checks('gpu_sweeps', 'only_row_check'),
  ...checks('key_guards', 'acted_check', 'action_check', 'at_pct_check', 'model_check'),
  ...checks('ledger_entries', 'charge_id', 'kind_check'),
  ...checks('models', 'context_window_check', 'kind_check'),
  ...checks('models', 'input_price_per_million_usd_check', 'output_price_per_million_usd_check'),
  ...checks('plans', 'included_credits_usd_check', 'monthly_price_usd_check', 'requests_per_minute_check'),
  ...checks('playground_days', 'input_tokens_check', 'output_tokens_check', 'runs_check'),
  ...checks('playground_runs', 'cost_usd_check', 'list_cost_usd_check', 'position_check', 'status_check'),
  ...checks('playground_sessions', 'check'),
  ...checks('prompt_versions', 'version_check'),
  ...checks('prompts', 'check'),
  ...checks('call_routes', 'endpoint_check'),
  ...checks(
    'calls',
    'check',
    'check1',
    'cost_check',
    'input_tokens_check',
    'latency_ms_check',
    'output_tokens_check',
  ),
  ...checks('usage_retention', 'only_row_check'),
  ...checks('widgets', 'daily_message_limit_check', 'monthly_limit_usd_check', 'position_check'),
  ...checks('widgets', 'rate_limit_per_minute_check', 'status_check', 'visitor_daily_limit_check'),
  // MikroORM sees row triggers only, and assumes that it created their function under a name of its own.
  ...trigger('accounts', 'accounts_keep_ledger'),
  ...trigger('admin_actions', 'admin_actions_immutable'),
  ...trigger('ledger_entries', 'ledger_entries_immutable'),
  ...trigger('ledger_entries', 'ledger_entries_post_charges'),
  'drop view if exists "usage_events" cascade',
  ...trigger('prompt_versions', 'prompt_versions_immutable'),
  ...trigger('prompt_versions', 'prompt_versions_kept'),
];

function checks(table: string, ...names: string[]): string[] {
  return names.map((name) => `alter table "${table}" drop constraint "${table}_${name}"`);
}

function trigger(table: string, name: string): string[] {
  return [
    `drop trigger if exists "${name}" on "${table}"`,
    `drop function if exists "${table}_${name}_fn"()`,
  ];
}

/**
 * The changes that MikroORM would make to match the entities, without those that only migrations declare. Partitions have
 * no entity and are left alone. MikroORM doesn't see `nulls not distinct`, and expects a primary key that the database
 * doesn't have, because roll-ups have a unique constraint instead.
 * @returns `unexplained`: the remaining statements; `unused`: exceptions that nothing needs.
 */
export async function schemaDiff(orm: MikroORM): Promise<{ unexplained: string[]; unused: string[] }> {
  const statements = (await orm.schema.getUpdateSchemaSQL({ wrap: false }))
    .split(';\n')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const misread = await misreadIndexes(orm, statements);
  const explained = new Set([...ONLY_IN_MIGRATIONS, ...misread]);
  return {
    unexplained: [
      ...statements.filter((statement) => !explained.has(statement)),
      ...(await differentTypes(orm)),
    ],
    unused: ONLY_IN_MIGRATIONS.filter((statement) => !statements.includes(statement)),
  };
}

/**
 * MikroORM reads the order of a column from the text of the index and mistakes the end of `account_id` for `id`. After such a
 * column it misses `id desc`. If PostgreSQL itself shows an index as it should be, there is no difference.
 */
async function misreadIndexes(orm: MikroORM, statements: readonly string[]): Promise<string[]> {
  const rows = await orm.em
    .fork()
    .execute<{ name: string; definition: string }[]>(
      `select indexname as name, indexdef as definition from pg_indexes where schemaname = 'public'`,
    );
  return rows.flatMap(({ name, definition }) => {
    const wanted = statements.find((statement) => statement.startsWith(`create index "${name}" on `));
    if (wanted === undefined || plain(wanted) !== plain(definition)) return [];
    return [`drop index "${name}"`, wanted];
  });
}

/** Columns whose type differs literally from the entity's: MikroORM confuses times with and without a time zone. */
async function differentTypes(orm: MikroORM): Promise<string[]> {
  const rows = await orm.em.fork().execute<{ column: string; type: string }[]>(
    `select attrelid::regclass || '.' || attname as column, format_type(atttypid, atttypmod) as type from pg_attribute
     where attnum > 0 and not attisdropped and attrelid in (select oid from pg_class where relkind in ('r', 'p'))`,
  );
  const types = new Map(rows.map(({ column, type }) => [column, type]));
  return [...orm.getMetadata().getAll().values()].flatMap(({ tableName, props }) =>
    props.flatMap(({ fieldNames, columnTypes }) => {
      const name = `${tableName}.${fieldNames[0]}`;
      const [found, wanted] = [types.get(name), columnTypes[0]!];
      return found === undefined || short(found) === short(wanted)
        ? []
        : [`${name} is ${found}, not ${wanted}`];
    }),
  );
}

const short = (type: string): string =>
  type.replace(/^timestamp(\(\d\)) with time zone/, 'timestamptz$1').replace(/^int\b/, 'integer');

/** A definition without quotes and PostgreSQL's additions: schema, method, and `only` for a partitioned table. */
const plain = (definition: string): string =>
  definition
    .toLowerCase()
    .replaceAll('"', '')
    .replace(/ on (?:only )?(?:public\.)?/, ' on ')
    .replace(' using btree', '');

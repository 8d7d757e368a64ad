import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { formatTimestamp, monthStart, utcDay } from '../../lib/clock.js';
import { formatDecimal } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import { ANSWERED } from './outcomes.rules.js';
import type { WidgetOutput, WidgetUsageOutput } from './widgets.outputs.js';

const MAX_SITES = 50;

interface Row extends Omit<WidgetOutput, 'theme' | 'created_at' | 'monthly_limit_usd' | 'spend_month_usd'> {
  primary_color: string;
  position: WidgetOutput['theme']['position'];
  monthly_limit: string | null;
  spend_month: string;
  created_ms: number;
}

async function select(em: EntityManager, now: number, which: RawBuilder<unknown>): Promise<WidgetOutput[]> {
  const { rows } = await sql<Row>`
    select w.id, w.public_key, w.name, w.model_public_name, w.system_prompt, w.prompt_id, w.greeting_message,
      w.placeholder, w.primary_color, w.position, w.allowed_domains, w.rate_limit_per_minute, w.daily_message_limit,
      w.visitor_daily_limit, w.verified_history, w.loop_detection, w.monthly_limit_usd::text as monthly_limit,
      w.fallback_model_public_name, w.status, floor(extract(epoch from w.created_at) * 1000)::float8 as created_ms,
      coalesce((select d.messages from widget_days d where d.widget_id = w.id and d.day = ${utcDay(now)}), 0)
        as messages_today,
      (select coalesce(sum(d.cost), 0) from widget_days d
        where d.widget_id = w.id and d.day >= ${utcDay(monthStart(now).getTime())})::text as spend_month
    from widgets w ${which}`.execute(em.getKysely());
  return rows.map(toWidget);
}

function toWidget({
  primary_color,
  position,
  monthly_limit,
  spend_month,
  created_ms,
  ...row
}: Row): WidgetOutput {
  return {
    ...row,
    theme: { primary: primary_color, position },
    monthly_limit_usd: monthly_limit === null ? null : formatDecimal(monthly_limit),
    spend_month_usd: formatDecimal(spend_month),
    created_at: formatTimestamp(created_ms),
  };
}

/** Widgets of an account that aren't deleted, newest first. */
export function listWidgets(
  em: EntityManager,
  { accountId, now, limit, offset }: { accountId: string; now: number } & PageInput,
): Promise<WidgetOutput[]> {
  return select(
    em,
    now,
    sql`where w.account_id = ${accountId} and w.status = 'active'
      order by w.created_at desc, w.id desc limit ${limit} offset ${offset}::bigint`,
  );
}

/** A widget of the account that isn't deleted. `id` must be a UUID. */
export async function findWidget(
  em: EntityManager,
  { accountId, id, now }: { accountId: string; id: string; now: number },
): Promise<WidgetOutput | undefined> {
  const which = sql`where w.id = ${id} and w.account_id = ${accountId} and w.status = 'active'`;
  return (await select(em, now, which))[0];
}

/** Several of them, in no particular order. */
export function findWidgets(
  em: EntityManager,
  { accountId, ids, now }: { accountId: string; ids: readonly string[]; now: number },
): Promise<WidgetOutput[]> {
  const which = sql`where w.id = any(${ids}::uuid[]) and w.account_id = ${accountId} and w.status = 'active'`;
  return select(em, now, which);
}

/** Sites that may show an active widget. */
export async function allowedDomains(em: EntityManager, publicKey: string): Promise<string[] | undefined> {
  const { rows } = await sql<{ allowed_domains: string[] }>`
    select w.allowed_domains from widgets w join accounts a on a.id = w.account_id
    where w.public_key = ${publicKey} and w.status = 'active' and a.status = 'active' and a.deleted_at is null`.execute(
    em.getKysely(),
  );
  return rows[0]?.allowed_domains;
}

/** Whether an account has a prompt, which is locked against deletion until the transaction ends. */
export async function lockPromptForWidget(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from prompts where id = ${id} and account_id = ${accountId} for key share`.execute(em.getKysely());
  return rows.length > 0;
}

type Sums = Pick<WidgetUsageOutput, 'messages' | 'errors' | 'input_tokens' | 'output_tokens' | 'cost_usd'>;

/** Usage of a widget per day from `from` on, without unused days. */
export async function widgetDays(
  em: EntityManager,
  { widgetId, from }: { widgetId: string; from: string },
): Promise<Map<string, Sums>> {
  const { rows } = await sql<{ day: string } & Sums>`
    select day::text, messages, errors, input_tokens::float8 as input_tokens, output_tokens::float8 as output_tokens,
      cost::text as cost_usd
    from widget_days where widget_id = ${widgetId} and day >= ${from}`.execute(em.getKysely());
  return new Map(rows.map(({ day, ...sums }) => [day, sums]));
}

/** Messages of a widget by site, and their cost, from a day on. */
export async function widgetSites(
  em: EntityManager,
  { widgetId, from }: { widgetId: string; from: string },
): Promise<WidgetUsageOutput['sites']> {
  const { rows } = await sql<{ site: string; messages: number; refused: number; cost: string }>`
    select site, coalesce(sum(messages) filter (where outcome = ${ANSWERED}), 0)::float8 as messages,
      coalesce(sum(messages) filter (where outcome <> ${ANSWERED}), 0)::float8 as refused, sum(cost)::text as cost
    from widget_site_days where widget_id = ${widgetId} and day >= ${from}
    group by site order by messages desc, refused desc, site limit ${MAX_SITES}`.execute(em.getKysely());
  return rows.map(({ cost, ...row }) => ({ ...row, cost_usd: formatDecimal(cost) }));
}

/** Refused messages of a widget by reason, from a day on, most frequent first. */
export async function widgetRefusals(
  em: EntityManager,
  { widgetId, from }: { widgetId: string; from: string },
): Promise<WidgetUsageOutput['refused']> {
  const { rows } = await sql<WidgetUsageOutput['refused'][number]>`
    select outcome as code, sum(messages)::float8 as count from widget_site_days
    where widget_id = ${widgetId} and day >= ${from} and outcome <> ${ANSWERED}
    group by outcome order by 2 desc, 1`.execute(em.getKysely());
  return rows;
}

/** Deletes the widgets of an account that is deleted or has changed hands, and their counts by site. */
export async function deleteWidgets(em: EntityManager, accountId: string): Promise<void> {
  const db = em.getKysely();
  // The widgets first: from then on no edge adds to their counts.
  await sql`delete from widgets where account_id = ${accountId}`.execute(db);
  await sql`delete from widget_site_days where account_id = ${accountId}`.execute(db);
}

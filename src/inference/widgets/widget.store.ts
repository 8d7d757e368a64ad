import type { Pool } from 'pg';
import { queryWithin } from '../../db/bounded.js';
import { type Money, parseMoney } from '../../lib/money.js';
import { render } from '../../services/prompts/render.rules.js';
import type { PayerRow } from '../row-cache.js';

/** The part of a widget, its account and its plan that the edge needs, read in one statement. */
export interface WidgetRow extends PayerRow {
  publicKey: string;
  name: string;
  model: string;
  /** The active version of its prompt, if it has one; otherwise the widget's own text. */
  systemPrompt: string;
  promptVersionId: string | null;
  greeting: string;
  placeholder: string;
  primary: string;
  position: string;
  domains: string[];
  perMinute: number;
  perDay: number;
  visitorPerDay: number | null;
  verifiedHistory: boolean;
  loopDetection: boolean;
  monthlyLimit: Money | null;
  fallbackModel: string | null;
  allowedModels: string[];
  /** Messages answered today, in units of `MESSAGE`. */
  messagesToday: bigint;
  spentThisMonth: Money;
}

interface Raw
  extends Omit<WidgetRow, 'monthlyLimit' | 'balance' | 'ledgerSeq' | 'messagesToday' | 'spentThisMonth'> {
  monthlyLimit: string | null;
  balance: string;
  ledgerSeq: string;
  messagesToday: string;
  spentThisMonth: string;
  /** The variables of the prompt's version. */
  variables: { name: string; default: string | null }[] | null;
}

const SQL = `
select w.id, w.public_key as "publicKey", w.account_id as "accountId", w.name, w.model_public_name as model,
  coalesce(v.content, w.system_prompt) as "systemPrompt", v.id as "promptVersionId", v.variables, w.greeting_message as greeting,
  w.placeholder, w.primary_color as primary, w.position, w.allowed_domains as domains,
  w.rate_limit_per_minute as "perMinute", w.daily_message_limit as "perDay", w.visitor_daily_limit as "visitorPerDay",
  w.verified_history as "verifiedHistory", w.loop_detection as "loopDetection", w.monthly_limit_usd::text as "monthlyLimit",
  w.fallback_model_public_name as "fallbackModel", a.virtual_key_sealed as "virtualKeySealed", a.balance::text,
  a.ledger_seq::text as "ledgerSeq", p.requests_per_minute as "requestsPerMinute", p.allowed_models as "allowedModels",
  coalesce(d.messages, 0)::text as "messagesToday",
  (select coalesce(sum(cost), 0) from widget_days m
    where m.widget_id = w.id and m.day >= date_trunc('month', $2::date))::text as "spentThisMonth"
from widgets w
join accounts a on a.id = w.account_id and a.status = 'active' and a.deleted_at is null
join plans p on p.id = a.plan_id
left join prompts q on q.id = w.prompt_id
left join prompt_versions v on v.prompt_id = q.id and v.version = q.active_version
left join widget_days d on d.widget_id = w.id and d.day = $2::date
where w.public_key = any($1::text[]) and w.status = 'active'`;

/** Visitors wait for this reading, so a database that takes longer counts as away. */
const TIMEOUT_MS = 2_000;

/**
 * Reads widgets by their public keys. Widgets that don't exist, or whose account isn't active, are missing from the result.
 * @throws Error after 2 s at the latest
 */
export async function readWidgets(
  pool: Pool,
  publicKeys: readonly string[],
  day: string,
): Promise<Map<string, WidgetRow>> {
  const values = [publicKeys, day];
  const rows = await queryWithin<Raw>(pool, { name: 'read-widgets', text: SQL, values }, TIMEOUT_MS);
  return new Map(rows.map((row) => [row.publicKey, rowOf(row)]));
}

function rowOf({ variables, ...row }: Raw): WidgetRow {
  return {
    ...row,
    systemPrompt: variables === null ? row.systemPrompt : filled(row.systemPrompt, variables),
    monthlyLimit: row.monthlyLimit === null ? null : parseMoney(row.monthlyLimit),
    balance: parseMoney(row.balance),
    ledgerSeq: BigInt(row.ledgerSeq),
    messagesToday: parseMoney(row.messagesToday),
    spentThisMonth: parseMoney(row.spentThisMonth),
  };
}

/** A prompt that would become longer than this is sent without its defaults. */
const MAX_PROMPT_BYTES = 1_000_000;

/** Fills in the defaults of a prompt's variables. The placeholder of a variable without a default stays. */
function filled(content: string, variables: readonly { name: string; default: string | null }[]): string {
  const defaults = new Map(
    variables.flatMap(({ name, default: value }) => (value === null ? [] : [[name, value] as const])),
  );
  const fill = (values: ReadonlyMap<string, string>) =>
    render({ content, values, defaults, maxBytes: MAX_PROMPT_BYTES });
  const known = fill(new Map());
  const rendering =
    known.kind === 'missing' ? fill(new Map(known.names.map((name) => [name, `{{ ${name} }}`]))) : known;
  return rendering.kind === 'rendered' ? rendering.text : content;
}

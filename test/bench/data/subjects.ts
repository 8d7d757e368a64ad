import type pg from 'pg';
import { timeCursor } from '../../../src/lib/connection-input.js';
import { call, type SessionAnswer } from '../../support/api.js';
import { BENCH_PASSWORD, emailOf, type Who } from './accounts.js';

/** Objects that an account's requests name: its own, and for administrators those of all. */
export interface Subject {
  who: Who;
  token: string;
  accountId: string;
  /** The key with the most calls. */
  keyId: string;
  /** The newest call, the newest that was rejected, and a cursor in the middle of the list. */
  eventId: string;
  rejectedId: string;
  middleCursor: string;
  /** A UTC day with calls, and its month. */
  day: string;
  month: string;
  /** A prompt, its newest version, and that version's number. */
  promptId: string;
  versionId: string;
  versions: number;
  widgetId: string;
  widgetKey: string;
  sessionId: string;
  slug: string;
  nodeId: string;
  /** Two runs of benchmarks. */
  runs: [string, string];
}

/** Logs an account in, and finds what its requests name. */
export async function openSubject(url: string, pool: pg.Pool, who: Who): Promise<Subject> {
  const session = await call<SessionAnswer>(url, 'POST', '/api/auth/login', {
    body: { email: emailOf(who), password: BENCH_PASSWORD },
  });
  if (session.status !== 200) throw new Error(`${who} could not log in: ${session.text}`);
  const accountId = session.body.user.id;
  const one = async <Row extends object>(text: string): Promise<Row> => {
    const { rows } = await pool.query(text, text.includes('$1') ? [accountId] : []);
    if (!rows[0]) throw new Error(`${who} has no row: ${text}`);
    return rows[0];
  };
  const key = await one<{ id: string }>(
    `select k.id from api_keys k left join key_spend_days d on d.key_id = k.id
     where account_id = $1 group by 1 order by sum(d.spend) desc nulls last limit 1`,
  );
  const newest = await one<{ id: string; day: string }>(
    `select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day from usage_events where account_id = $1
     order by created_at desc, id desc limit 1`,
  );
  const rejected = await one<{ id: string }>(
    `select ids[1] as id from refused_call_hours where account_id = $1 and ids <> '{}' order by hour desc limit 1`,
  );
  const middle = await one<{ id: string; us: string }>(
    `select id, (extract(epoch from created_at) * 1000000)::bigint::text as us from usage_events
     where account_id = $1 and created_at < now() - interval '60 days' or account_id = $1
     order by created_at < now() - interval '60 days' desc, created_at desc limit 1`,
  );
  const version = await one<{ promptId: string; id: string; version: number }>(
    `select p.id as "promptId", v.id, v.version from prompts p join prompt_versions v on v.prompt_id = p.id
     where account_id = $1 order by v.version desc, p.id limit 1`,
  );
  const widget = await one<{ id: string; key: string }>(
    'select id, public_key as key from widgets where account_id = $1 limit 1',
  );
  const shared = await one<{ id: string; slug: string }>(
    'select id, share_slug as slug from playground_sessions where account_id = $1 and shared limit 1',
  );
  const node = await one<{ id: string; runs: [string, string] }>(
    `select node_id as id, (array_agg(id order by created_at desc))[1:2] as runs from gpu_benchmarks
     group by node_id, model limit 1`,
  );
  return {
    who,
    token: session.body.access_token,
    accountId,
    keyId: key.id,
    eventId: newest.id,
    rejectedId: rejected.id,
    middleCursor: timeCursor({ createdUs: middle.us, id: middle.id }),
    day: newest.day,
    month: newest.day.slice(0, 7),
    promptId: version.promptId,
    versionId: version.id,
    versions: version.version,
    widgetId: widget.id,
    widgetKey: widget.key,
    sessionId: shared.id,
    slug: shared.slug,
    nodeId: node.id,
    runs: node.runs,
  };
}

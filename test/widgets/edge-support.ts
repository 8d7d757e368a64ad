import { createEnvelope } from '../../src/lib/crypto.js';
import { newId } from '../../src/lib/ids.js';
import { newPublicKey } from '../../src/services/widgets/widgets.rules.js';
import type { TestDatabase } from '../support/database.js';
import { createTestKey } from '../support/edge.js';
import { TEST_SECRETS } from '../support/secrets.js';

export interface TestWidget {
  id: string;
  accountId: string;
  publicKey: string;
  /** An API key of the same account. */
  key: string;
}

export interface TestWidgetOptions {
  balance?: string;
  plan?: string;
  accountId?: string;
  /** Null: the account has no virtual key. */
  virtualKey?: string | null;
  /** Columns of the widget. */
  columns?: Record<string, unknown>;
}

/** An account with a widget, written the way the platform writes them. */
export async function createTestWidget(
  db: Pick<TestDatabase, 'pool'>,
  {
    balance,
    plan,
    virtualKey = 'sk-virtual-of-the-account',
    columns = {},
    ...options
  }: TestWidgetOptions = {},
): Promise<TestWidget> {
  const { accountId, key } = await createTestKey(db, {
    ...(balance !== undefined && { balance }),
    ...(plan !== undefined && { plan }),
    ...(options.accountId !== undefined && { accountId: options.accountId }),
  });
  if (virtualKey !== null) {
    const sealed = createEnvelope('virtual-key', TEST_SECRETS.ENCRYPTION_KEY).seal(
      virtualKey,
      `account:${accountId}:virtual_key`,
    );
    await db.pool.query('update accounts set virtual_key_sealed = $2 where id = $1', [accountId, sealed]);
  }
  const id = newId();
  const publicKey = newPublicKey();
  const row: Record<string, unknown> = {
    id,
    account_id: accountId,
    public_key: publicKey,
    name: 'Help',
    model_public_name: 'gateway/fast',
    greeting_message: 'Hi!',
    placeholder: 'Ask',
    primary_color: '#0b5563',
    position: 'bottom-right',
    allowed_domains: [],
    rate_limit_per_minute: 1_000,
    daily_message_limit: 200,
    verified_history: false,
    loop_detection: false,
    created_at: new Date(),
    updated_at: new Date(),
    ...columns,
  };
  const names = Object.keys(row);
  await db.pool.query(
    `insert into widgets (${names}) values (${names.map((_name, i) => `$${i + 1}`)})`,
    Object.values(row),
  );
  return { id, accountId, publicKey, key };
}

/** Changes a widget as the platform does: the edge hears of it. */
export async function changeWidget(
  db: Pick<TestDatabase, 'pool'>,
  { id, accountId }: TestWidget,
  change: string,
): Promise<void> {
  await db.pool.query(`update widgets set ${change} where id = $1`, [id]);
  await db.pool.query(`select pg_notify('gateway_invalidate', $1)`, [`widget:${id}:${accountId}`]);
}

export interface ChatOptions {
  origin?: string;
  headers?: Record<string, string>;
  body?: Record<string, unknown>;
}

/** A message of a visitor. */
export function say(
  url: string,
  publicKey: string,
  { origin, headers = {}, body = {} }: ChatOptions = {},
): Promise<Response> {
  return fetch(`${url}/api/widget/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(origin !== undefined && { origin }), ...headers },
    body: JSON.stringify({
      public_key: publicKey,
      messages: [{ role: 'user', content: 'Hello?' }],
      ...body,
    }),
  });
}

/** Status and code of an answer that is an error. */
export async function refusalOf(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
}

export interface ChatAnswer {
  session_id: string;
  message: { role: string; content: string; mac: string };
  usage: { prompt_tokens: number; completion_tokens: number };
}

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { call, PASSWORD, type SessionAnswer } from '../../../support/api.js';
import type { Account } from './messages.js';

/** Two writes per second are allowed again; a wait of hours is an error. */
const LONGEST_WAIT_S = 60;

/** An address in the nth of many IPv4 /24 networks. Behind a trusted front door, the product sees separate networks. */
export const addressIn = (block: number, n: number): string =>
  `${block}.${Math.floor(n / 256) % 256}.${n % 256}.7`;

/** The header by which a front door names its client. */
export const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

/** One request of an account that has to succeed, later if it has to wait. */
export async function must<Answer>(
  url: string,
  { token, address }: Pick<Account, 'token' | 'address'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const answer = await call<Answer>(url, method, path, {
    ...(token !== '' && { token }),
    body,
    headers: from(address),
  });
  if (answer.status < 300) return answer.body;
  if (answer.status === 429 && Number(answer.headers.get('retry-after')) <= LONGEST_WAIT_S) {
    await pause(1_000);
    return must(url, { token, address }, method, path, body);
  }
  throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 300)}`);
}

/** Signs somebody up on plan `free` and makes a key. */
export async function newAccount(
  url: string,
  address: string,
  email = `${randomUUID()}@example.com`,
): Promise<Account> {
  const session = await must<SessionAnswer>(url, { token: '', address }, 'POST', '/api/auth/signup', {
    email,
    password: PASSWORD,
    name: 'Ada',
  });
  const token = session.access_token;
  const made = await newKey(url, { token, address });
  return { accountId: session.user.id, email, token, address, ...made };
}

export async function newKey(
  url: string,
  account: Pick<Account, 'token' | 'address'>,
): Promise<{ key: string; keyId: string }> {
  const made = await must<{ key: string; api_key: { id: string } }>(url, account, 'POST', '/api/keys', {
    name: 'of the load',
  });
  return { key: made.key, keyId: made.api_key.id };
}

/** A key whose monthly limit any call exceeds. */
export async function tightKey(url: string, account: Account): Promise<{ key: string; keyId: string }> {
  const made = await newKey(url, account);
  await must(url, account, 'PATCH', `/api/keys/${made.keyId}`, { monthly_limit_usd: '0.000001' });
  return made;
}

/** Subscribes to percentages of a key's limit. */
export const subscribeTo = (
  url: string,
  account: Account,
  keyId: string,
  destination: string,
  thresholds: readonly number[],
): Promise<unknown> =>
  must(url, account, 'POST', `/api/keys/${keyId}/alerts`, {
    kind: destination.includes('://') ? 'webhook' : 'email',
    destination,
    thresholds_pct: thresholds,
  });

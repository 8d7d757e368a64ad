import { call, signUp } from './api.js';

export interface StackUser {
  /** Session token. */
  token: string;
  accountId: string;
  keyId: string;
  /** The secret. */
  key: string;
}

export interface StackCallers {
  /** One call of `/api` over the edge; throws unless it answers 2xx. */
  api<T>(token: string, method: string, path: string, body?: unknown): Promise<T>;
  /** Signs somebody up and makes a key, all over the edge; an administrator moves the account to `plan`. */
  signUp(plan?: string): Promise<StackUser>;
}

/** A customer's actions at an edge's address. `logInAdmin` returns an administrator's session and is called at most once. */
export function stackCallers(
  url: string,
  logInAdmin: (api: StackCallers['api']) => Promise<string>,
): StackCallers {
  const api = async <T>(token: string, method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await call<T>(url, method, path, { token, body });
    if (answer.status > 299) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  let admin: Promise<string> | undefined;
  return {
    api,
    async signUp(plan = 'team') {
      const { token, user } = await signUp(url);
      if (plan !== 'free') {
        admin ??= logInAdmin(api);
        await api(await admin, 'PATCH', `/api/admin/users/${user.id}`, { plan });
      }
      const made = await api<{ key: string; api_key: { id: string; has_upstream: boolean } }>(
        token,
        'POST',
        '/api/keys',
        { name: 'of a test' },
      );
      if (!made.api_key.has_upstream) throw new Error('the key has no virtual key');
      return { token, accountId: user.id, keyId: made.api_key.id, key: made.key };
    },
  };
}

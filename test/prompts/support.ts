import { type ApiAnswer, call, type ErrorAnswer, signUp } from '../support/api.js';

export interface Version {
  id: string;
  version: number;
  content: string;
  notes: string | null;
  variables: { name: string; description: string | null; default: string | null }[];
  config: Record<string, unknown> | null;
  warnings: { code: string; name: string }[];
}

export interface Prompt {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  active_version_id: string;
  active_version: Version;
  version_count: number;
  revision: number;
  versions?: Version[];
}

/** The prompt routes in the name of somebody. */
export function promptsApi(url: () => string, token: () => string) {
  const ask = <T>(method: string, path: string, body?: unknown): Promise<ApiAnswer<T>> =>
    call<T>(url(), method, `/api/prompts${path}`, {
      token: token(),
      ...(body !== undefined && { body }),
    });
  /** The body of an answer that must have a status. */
  const must = async <T>(status: number, method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await ask<T>(method, path, body);
    if (answer.status !== status)
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  return {
    ask,
    must,
    /** Status and code of an answer that is an error. */
    async refused(method: string, path: string, body?: unknown): Promise<[number, string]> {
      const answer = await ask<ErrorAnswer>(method, path, body);
      return [answer.status, answer.body?.error?.code];
    },
    create: (input: object = {}): Promise<Prompt> =>
      must(201, 'POST', '', { name: 'Greeting', content: 'Hello {{ name }}', ...input }),
    addVersion: (id: string, input: object = {}): Promise<Version> =>
      must(201, 'POST', `/${id}/versions`, { content: 'Good day {{ name }}', ...input }),
    activate: (id: string, vid: string): Promise<Prompt> =>
      must(200, 'POST', `/${id}/versions/${vid}/activate`),
    get: (id: string): Promise<Prompt> => must(200, 'GET', `/${id}`),
  };
}

/** Somebody new before each test of a `describe`, and the prompt routes in their name. */
export function usePromptOwner(suite: { url: string }) {
  const owner = { token: '', accountId: '' };
  beforeEach(async () => {
    const { token, user } = await signUp(suite.url);
    Object.assign(owner, { token, accountId: user.id });
  });
  const api = promptsApi(
    () => suite.url,
    () => owner.token,
  );
  return { owner, api };
}

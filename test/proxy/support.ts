import type { TestProxy } from '../support/proxy.js';

/** A call with a JSON body. */
export async function post(url: string, key: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** A new virtual key of an account. */
export async function newKey(proxy: TestProxy, account = 'someone'): Promise<string> {
  const response = await post(`${proxy.url}/key/generate`, proxy.masterKey, { user_id: account });
  return ((await response.json()) as { key: string }).key;
}

/** A chat body with one user message. */
export const ask = (content: string, rest: Record<string, unknown> = {}) => ({
  model: 'gateway/fast',
  messages: [{ role: 'user', content }],
  ...rest,
});

interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: number[];
}

export interface Logprobs {
  content: (TokenLogprob & { top_logprobs: TokenLogprob[] })[];
}

export interface ChunkBody {
  model: string;
  system_fingerprint: string;
  choices: {
    index: number;
    delta: {
      content?: string;
      tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[];
    };
    logprobs?: Logprobs | null;
    finish_reason: string | null;
  }[];
  usage?: Record<string, unknown> | null;
}

/** The JSON chunks of an event stream, `[DONE]` left out. */
export function chunksOf(text: string): ChunkBody[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: ') && event !== 'data: [DONE]')
    .map((event) => JSON.parse(event.slice(6)) as ChunkBody);
}

/** The text of a stream's choice. */
export const textOf = (chunks: ChunkBody[], index = 0): string =>
  chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index)
    .map((choice) => choice.delta.content ?? '')
    .join('');

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A double of LiteLLM's proxy (1.8x to 1.10x), with its observed key management, headers and errors. The response to
 * a call to a model is up to the test.
 */
export interface LiteLlmDouble {
  url: string;
  masterKey: string;
  /** Existing virtual keys with their users. */
  keys: Map<string, string>;
  /** Bodies of the calls to models. */
  seen: Record<string, unknown>[];
  /** Script of the next calls to models. */
  answer(script: LiteLlmScript): void;
  close(): Promise<void>;
}

export type LiteLlmScript = (body: Record<string, unknown>, response: ServerResponse) => unknown;

/** Texts that must never reach a customer. */
export const LITELLM_CANARIES = [
  'litellm',
  'LiteLLM',
  'x-litellm',
  'llm_provider',
  '10.9.8.7',
  'node-of-the-operator',
  'hosted_vllm',
  'gemma-3-4b',
  'Model Group',
  'cooldown_list',
  'deployment-id-1',
  'sk-...',
  'Key Hash',
  'Max budget',
];

/** Headers of every response; `None` is Python's. */
const HEADERS = {
  'x-litellm-call-id': 'c290a7f2-6501-4256-bd09-8aad0894f611',
  'x-litellm-model-id': 'deployment-id-1',
  'x-litellm-model-api-base': 'http://10.9.8.7:8000/v1',
  'x-litellm-version': '1.81.12',
  'x-litellm-model-group': 'gateway/fast',
  'x-litellm-response-cost': '2.85e-05',
  'x-litellm-key-spend': '0.0001',
  'x-litellm-key-tpm-limit': 'None',
  'x-litellm-attempted-retries': '0',
  'x-litellm-attempted-fallbacks': '0',
  'x-ratelimit-remaining-requests': '31337',
  'llm_provider-server': 'node-of-the-operator',
  'set-cookie': 'token=abc; Path=/',
  server: 'uvicorn',
};

/** Answers JSON as LiteLLM does. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): LiteLlmScript {
  return (_asked, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...HEADERS, ...headers });
    response.end(JSON.stringify(body));
  };
}

/** An error response; `type` and `param` as Python writes them. */
export const failure = (
  status: number,
  message: string,
  type: string | null = 'None',
  headers: Record<string, string> = {},
): LiteLlmScript => json(status, { error: { message, type, param: 'None', code: String(status) } }, headers);

/** A whole response. LiteLLM puts the requested name back, except after a fallback. */
export const whole =
  (fields: Record<string, unknown> = {}): LiteLlmScript =>
  (asked, response) =>
    json(200, {
      id: 'chatcmpl-1',
      created: 1_763_683_200,
      model: asked.model,
      object: 'chat.completion',
      system_fingerprint: null,
      choices: [{ finish_reason: 'stop', index: 0, message: { content: 'Hello.', role: 'assistant' } }],
      usage: { completion_tokens: 34, prompt_tokens: 12, total_tokens: 46, prompt_tokens_details: null },
      ...fields,
    })(asked, response);

const chunk = (model: unknown, fields: Record<string, unknown>): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', created: 1, model, object: 'chat.completion.chunk', ...fields })}\n\n`;

const choice = (delta: Record<string, unknown>, finish: string | null = null) => [
  { index: 0, delta, ...(finish ? { finish_reason: finish } : {}) },
];

/** The synthetic usage chunk: instead of OpenAI's empty `choices`, one empty choice. */
const USAGE = {
  choices: choice({}),
  usage: { completion_tokens: 34, prompt_tokens: 12, total_tokens: 46 },
};

export interface StreamOptions {
  /** Whether usage is reported; after `after` tokens, an error replaces the rest. */
  usage?: boolean;
  error?: { after: number; payload: unknown };
  /** The model name in the chunks; by default, the requested one. */
  model?: string;
}

/** A stream of three tokens. */
export const stream =
  ({ usage = true, error, model }: StreamOptions = {}): LiteLlmScript =>
  (asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...HEADERS });
    const name = model ?? asked.model;
    const tokens = ['Hel', 'lo', '.'].map((content, index) =>
      chunk(name, { choices: choice(index === 0 ? { role: 'assistant', content } : { content }) }),
    );
    if (error) {
      response.write(tokens.slice(0, error.after).join(''));
      response.end(`data: ${JSON.stringify({ error: error.payload })}\n\n`);
      return;
    }
    response.write(tokens.join('') + chunk(name, { choices: choice({}, 'stop') }));
    if (usage) response.write(chunk(name, USAGE));
    response.end('data: [DONE]\n\n');
  };

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export async function startLiteLlm(masterKey: string): Promise<LiteLlmDouble> {
  const keys = new Map<string, string>();
  const seen: Record<string, unknown>[] = [];
  let script: LiteLlmScript = whole();

  const generate: LiteLlmScript = (body, response) => {
    const key = `sk-${randomBytes(16).toString('base64url')}`;
    keys.set(key, String(body.user_id));
    const token = sha256(key);
    json(200, {
      key_alias: body.key_alias,
      duration: null,
      models: [],
      spend: 0,
      max_budget: null,
      user_id: body.user_id,
      team_id: null,
      max_parallel_requests: null,
      metadata: {},
      tpm_limit: null,
      rpm_limit: null,
      budget_duration: null,
      allowed_cache_controls: [],
      permissions: {},
      model_max_budget: {},
      key,
      budget_id: null,
      tags: null,
      key_name: `sk-...${key.slice(-4)}`,
      expires: null,
      token_id: token,
      token,
      created_by: 'default_user_id',
    })(body, response);
  };
  const remove: LiteLlmScript = (body, response) => {
    const asked = body.keys as string[];
    const gone = asked.filter((key) => keys.delete(key));
    if (gone.length === asked.length) return json(200, { deleted_keys: asked })(body, response);
    const message = `{'error': "Not all keys passed in were deleted. This probably means you don't have access to delete all the keys passed in. Keys passed in=${asked.length}, Deleted keys =${gone.length}"}`;
    return failure(400, message, 'bad_request_error')(body, response);
  };
  const refuse = (key: string) =>
    failure(
      401,
      `Authentication Error, Invalid proxy server token passed. Received API Key = sk-...${key.slice(-4)}, Key Hash (Token) =${sha256(key)}. Unable to find token in cache or \`LiteLLM_VerificationTokenTable\``,
      'token_not_found_in_db',
    );
  const models = json(200, {
    data: [{ id: 'gateway/fast', object: 'model', created: 1_677_610_602, owned_by: 'openai' }],
    object: 'list',
  });
  const info = json(200, {
    data: [
      {
        model_name: 'gateway/fast',
        litellm_params: { api_base: 'http://10.9.8.7:8000/v1', model: 'hosted_vllm/gemma-3-4b' },
        model_info: { id: 'deployment-id-1', db_model: false, input_cost_per_token: 1e-7 },
      },
    ],
  });

  const route = (request: IncomingMessage, body: Record<string, unknown>): LiteLlmScript => {
    const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const isMaster = key === masterKey;
    if (!isMaster && !keys.has(key)) return refuse(key);
    const target = `${request.method} ${request.url}`;
    if (target === 'GET /v1/models') return models;
    if (target === 'GET /v1/model/info') return info;
    if (target === 'POST /v1/chat/completions' || target === 'POST /v1/embeddings') {
      seen.push(body);
      return script;
    }
    if (isMaster && target === 'POST /key/generate') return generate;
    if (isMaster && target === 'POST /key/delete') return remove;
    return json(404, { detail: 'Not Found' });
  };

  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    await route(request, body)(body, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    masterKey,
    keys,
    seen,
    answer(next) {
      script = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

import type { OpenApiDocument } from './openapi-finish.js';

/** Inference is the edge's to answer; the reference has it all the same, since it is what most callers call. */
export const INFERENCE_TAG = {
  name: 'Inference',
  description:
    'The form is that of OpenAI’s API: its SDKs work with this base address and an API key. Members that are known pass to the model; others are dropped.',
};

/** How callers of `/v1` show who they are. */
export const KEY_SCHEME = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key, `sk-pr-…`.',
} as const;

const error = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

const ofKeys = {
  401: error('The key is missing, malformed, unknown or disabled (`invalid_api_key`).'),
  429: error('Too many requests (`rate_limit_exceeded`); wait for `Retry-After` seconds.'),
  503: error(
    'No node can answer (`upstream_unavailable`), or the key has to be made anew (`upstream_unconfigured`).',
  ),
};
const ofCalls = {
  ...ofKeys,
  400: error(
    'The body is no JSON or lacks `model` (`invalid_body`), or the model refused it (`invalid_request`).',
  ),
  402: error(
    'The balance is below $0.001 (`insufficient_credits`), or the key’s daily cap is reached (`daily_cap_exceeded`).',
  ),
  403: error('The plan doesn’t have the model (`model_not_allowed`).'),
  413: error('The body is larger than 10 MiB (`body_too_large`).'),
  502: error('A node failed (`upstream_error`). Nothing is charged.'),
  504: error('A node was too slow (`upstream_timeout`). Nothing is charged.'),
};

const text = (description: string) => ({ type: 'string', description });
const whole = (description: string) => ({ type: 'integer', minimum: 0, description });
const model = {
  ...text('Public name of a model of the plan, as `GET /v1/models` lists them.'),
  example: 'gateway/fast',
};
const usage = {
  type: 'object',
  description: 'What is charged.',
  properties: {
    prompt_tokens: whole('Tokens in.'),
    completion_tokens: whole('Tokens out.'),
    total_tokens: whole('Both.'),
  },
};
const openaisOwn = ' Other members as in OpenAI’s API.';

const schemas = {
  ChatCompletionRequest: {
    type: 'object',
    description: `A conversation to be continued.${openaisOwn}`,
    required: ['model', 'messages'],
    properties: {
      model,
      messages: {
        type: 'array',
        description: 'The conversation, oldest first: objects with `role` and `content`.',
        items: { type: 'object', example: { role: 'user', content: 'Hello!' } },
      },
      stream: {
        type: 'boolean',
        description:
          'Whether the answer comes as server-sent events, `data: {…}` lines that end with `data: [DONE]`.',
      },
      stream_options: {
        type: 'object',
        description: '`{ "include_usage": true }` asks for a last chunk with the usage.',
      },
      max_tokens: whole('Most tokens of the answer. `max_completion_tokens` is the same.'),
      temperature: { type: 'number', minimum: 0, maximum: 2, description: 'How freely the model chooses.' },
      top_p: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description: 'Share of the likely words that it chooses from.',
      },
      n: { type: 'integer', minimum: 1, maximum: 128, description: 'How many answers.' },
      tools: {
        type: 'array',
        description: 'Functions that the model may ask you to call.',
        items: { type: 'object' },
      },
    },
  },
  ChatCompletion: {
    type: 'object',
    description: `The answer to a conversation.${openaisOwn}`,
    properties: {
      id: text('Id of the answer.'),
      object: { type: 'string', enum: ['chat.completion'], description: 'What it is.' },
      created: whole('Time in seconds since 1970.'),
      model: text(
        'The model that served: another one than was asked for while all nodes of that one are out.',
      ),
      choices: {
        type: 'array',
        description: 'The answers: objects with `index`, `message` and `finish_reason`.',
        items: { type: 'object' },
      },
      usage,
    },
  },
  EmbeddingRequest: {
    type: 'object',
    description: `Texts to be turned into vectors.${openaisOwn}`,
    required: ['model', 'input'],
    properties: {
      model: { ...model, example: 'gateway/embed' },
      input: {
        description: 'A text, or up to 2,048 of them.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
        example: 'Hello!',
      },
      encoding_format: {
        type: 'string',
        enum: ['float', 'base64'],
        description: 'How vectors are written.',
        default: 'float',
      },
    },
  },
  EmbeddingList: {
    type: 'object',
    description: 'Vectors in the order of the texts. `gateway/embed` gives 768 dimensions.',
    properties: {
      object: { type: 'string', enum: ['list'], description: 'What it is.' },
      data: {
        type: 'array',
        description: 'One object for each text, with `index` and `embedding`.',
        items: { type: 'object' },
      },
      model: text('The model that served.'),
      usage,
    },
  },
  ModelList: {
    type: 'object',
    description: 'The models of the plan.',
    properties: {
      object: { type: 'string', enum: ['list'], description: 'What it is.' },
      data: {
        type: 'array',
        description:
          'Objects with `id`, the public name, and `owned_by`: `simulator` where no real model answers.',
        items: { type: 'object' },
      },
    },
  },
};

const json = (name: keyof typeof schemas) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
});
const operation = (operationId: string, summary: string, description: string) => ({
  operationId,
  summary,
  description,
  tags: [INFERENCE_TAG.name],
  security: [{ key: [] }],
});

const paths = {
  '/v1/chat/completions': {
    post: {
      ...operation(
        'createChatCompletion',
        'Continue a conversation',
        'Charged by the tokens in and out at the price of the model that served. What fails costs nothing.',
      ),
      requestBody: { required: true, content: json('ChatCompletionRequest') },
      responses: {
        200: {
          description: 'The answer; with `stream` a stream of events.',
          content: {
            ...json('ChatCompletion'),
            'text/event-stream': { schema: text('Lines `data: {…}` with chunks, then `data: [DONE]`.') },
          },
        },
        ...ofCalls,
      },
    },
  },
  '/v1/embeddings': {
    post: {
      ...operation('createEmbeddings', 'Turn texts into vectors', 'Charged by the tokens in.'),
      requestBody: { required: true, content: json('EmbeddingRequest') },
      responses: { 200: { description: 'The vectors.', content: json('EmbeddingList') }, ...ofCalls },
    },
  },
  '/v1/models': {
    get: {
      ...operation('listAllowedModels', 'List the models of the plan', 'Costs nothing and needs no balance.'),
      responses: { 200: { description: 'The models.', content: json('ModelList') }, ...ofKeys },
    },
  },
};

/** Adds what the edge answers under `/v1`, before everything else. */
export function withInference(document: OpenApiDocument): OpenApiDocument {
  return {
    ...document,
    components: { ...document.components, schemas: { ...document.components.schemas, ...schemas } },
    paths: { ...(paths as unknown as OpenApiDocument['paths']), ...document.paths },
  };
}

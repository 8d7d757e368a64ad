import type { OpenApiDocument } from './openapi-finish.js';
import {
  bodyRefusals,
  booleanSchema,
  chunkEvents,
  enumSchema,
  error,
  integerSchema,
  jsonOf,
  list,
  object,
  textSchema,
  usage as usageOf,
} from './openapi-parts.js';
import { responsesOperation, responsesSchemas } from './openapi-responses.js';
import { widgetPaths, widgetSchemas } from './openapi-widgets.js';

/** The edge serves inference. The reference includes it because most callers use it. */
export const INFERENCE_TAG = {
  name: 'Inference',
  description:
    'Compatible with OpenAI’s API: its SDKs work with this base URL and an API key. Known fields are forwarded to the model; others are dropped.',
};

/** Authentication of `/v1`. */
export const KEY_SCHEME = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key, `sk-pr-…`.',
} as const;

const ofKeys = {
  401: error('The key is missing, malformed, unknown or disabled (`invalid_api_key`).'),
  429: error('Too many requests (`rate_limit_exceeded`). Retry after `Retry-After` seconds.'),
  503: error(
    'No node is available (`upstream_unavailable`), the service is busy or restarting (`service_unavailable`), or the key has no upstream virtual key and must be replaced (`upstream_unconfigured`).',
  ),
};
const ofCalls = {
  ...ofKeys,
  ...bodyRefusals,
  400: error('The body is not valid (`invalid_body`), or the model rejected it (`invalid_request`).'),
  402: error(
    'The balance is below $0.001 (`insufficient_credits`), the key has reached its daily cap (`daily_cap_exceeded`), or its guard has stopped it (`key_guard_reached`).',
  ),
  403: error('Your plan doesn’t include the model (`model_not_allowed`).'),
  413: error('The body is larger than 10 MiB (`body_too_large`).'),
  502: error('The model failed to answer (`upstream_error`). The call is free.'),
  504: error('The model didn’t answer in time (`upstream_timeout`). The call is free.'),
};

const model = {
  ...textSchema('Public name of a model of your plan, as listed by `GET /v1/models`.'),
  example: 'gateway/fast',
};
const usage = usageOf('Token counts that are charged.');
const openaisOwn = ' Other fields as in OpenAI’s API.';

const schemas = {
  ChatCompletionRequest: {
    type: 'object',
    description: `A conversation to continue.${openaisOwn}`,
    required: ['model', 'messages'],
    properties: {
      model,
      messages: list('The conversation, oldest first: objects with `role` and `content`.', {
        type: 'object',
        example: { role: 'user', content: 'Hello!' },
      }),
      stream: booleanSchema(
        'Whether to stream the answer as server-sent events: `data: {…}` lines, ending with `data: [DONE]`.',
      ),
      stream_options: object('`{ "include_usage": true }` requests a final chunk with the usage.'),
      max_tokens: integerSchema('Maximum output tokens. `max_completion_tokens` means the same.'),
      temperature: { type: 'number', minimum: 0, maximum: 2, description: 'Sampling temperature.' },
      top_p: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description: 'Nucleus sampling.',
      },
      n: { type: 'integer', minimum: 1, maximum: 128, description: 'Number of answers.' },
      tools: list('Functions that the model may call.'),
    },
  },
  ChatCompletion: object(`The answer to a conversation.${openaisOwn}`, {
    id: textSchema('Answer ID.'),
    object: enumSchema('Object type.', 'chat.completion'),
    created: integerSchema('Creation time, in Unix seconds.'),
    model: textSchema('Model that answered: a fallback if no node of the requested model is available.'),
    choices: list('The answers: objects with `index`, `message` and `finish_reason`.'),
    usage,
  }),
  EmbeddingRequest: {
    type: 'object',
    description: `Texts to embed.${openaisOwn}`,
    required: ['model', 'input'],
    properties: {
      model: { ...model, example: 'gateway/embed' },
      input: {
        description: 'A text, as a string or a list of tokens, or up to 2,048 texts.',
        anyOf: [
          { type: 'string' },
          { type: 'array', items: { type: 'string' } },
          { type: 'array', items: { type: 'integer' } },
          { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
        ],
        example: 'Hello!',
      },
      encoding_format: {
        type: 'string',
        enum: ['float', 'base64'],
        description: 'Encoding of the vectors.',
        default: 'float',
      },
    },
  },
  EmbeddingList: object('Vectors in the order of the texts. `gateway/embed` returns 768 dimensions.', {
    object: enumSchema('Object type.', 'list'),
    data: list('One object per text, with `index` and `embedding`.'),
    model: textSchema('The model that served.'),
    usage: object('Token counts that are charged.', {
      prompt_tokens: integerSchema('Input tokens.'),
      total_tokens: integerSchema('Equal to `prompt_tokens`.'),
    }),
  }),
  ModelList: object('Models of your plan.', {
    object: enumSchema('Object type.', 'list'),
    data: list(
      'Objects with `id`, the public name, and `owned_by`, which is `simulator` if no real model answers.',
    ),
  }),
};

const json = jsonOf(schemas);
/** What a call may say about itself outside its body. */
const ofPrompts = {
  parameters: [
    {
      name: 'x-gateway-prompt-version',
      in: 'header',
      required: false,
      description:
        'The `prompt_version_id` of the saved prompt that the call is made from, for the statistics of its version. It isn’t forwarded; other values are ignored.',
      schema: { type: 'string' },
    },
  ],
};
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
        'Create a chat completion',
        'Input and output tokens are charged at the price of the model that answered. Failed calls are free.',
      ),
      ...ofPrompts,
      requestBody: { required: true, content: json('ChatCompletionRequest') },
      responses: {
        200: {
          description: 'The answer, or a stream of events if `stream` is true.',
          content: {
            ...json('ChatCompletion'),
            ...chunkEvents,
          },
        },
        ...ofCalls,
      },
    },
  },
  '/v1/embeddings': {
    post: {
      ...operation('createEmbeddings', 'Create embeddings', 'Input tokens are charged.'),
      ...ofPrompts,
      requestBody: { required: true, content: json('EmbeddingRequest') },
      responses: { 200: { description: 'The vectors.', content: json('EmbeddingList') }, ...ofCalls },
    },
  },
  '/v1/responses': {
    post: {
      operationId: 'createResponse',
      ...responsesOperation(ofCalls),
      ...ofPrompts,
      tags: [INFERENCE_TAG.name],
      security: [{ key: [] }],
    },
  },
  '/v1/models': {
    get: {
      ...operation('listAllowedModels', 'List the models of your plan', 'Free, and requires no balance.'),
      responses: { 200: { description: 'The models.', content: json('ModelList') }, ...ofKeys },
    },
  },
};

/** Adds the edge's operations under `/v1` and for visitors of widgets, before all others. */
export function withInference(document: OpenApiDocument): OpenApiDocument {
  return {
    ...document,
    components: {
      ...document.components,
      schemas: {
        ...document.components.schemas,
        ...schemas,
        ...(responsesSchemas as unknown as OpenApiDocument['components']['schemas']),
        ...(widgetSchemas as unknown as OpenApiDocument['components']['schemas']),
      },
    },
    paths: {
      ...(paths as unknown as OpenApiDocument['paths']),
      ...document.paths,
      ...(widgetPaths as unknown as OpenApiDocument['paths']),
    },
  };
}

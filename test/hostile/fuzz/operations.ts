import { readFileSync } from 'node:fs';
import { platformRoutes } from '../../support/platform-routes.js';
import type { Schema } from './values.js';

/** One method of one path, with what it takes. */
export interface Operation {
  method: string;
  /** With `{name}` for its parameters. */
  path: string;
  body: Schema | undefined;
  query: { name: string; schema: Schema }[];
}

interface Parameter {
  name: string;
  in: string;
  schema?: Schema;
}
interface Described {
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
  responses?: Record<string, unknown>;
}

const chat: Schema = {
  type: 'object',
  required: ['model', 'messages'],
  properties: {
    model: {
      enum: ['gateway/fast', 'gateway/fast', 'gateway/qwen-pro', 'gateway/deepseek-reason', 'gateway/embed'],
    },
    messages: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['role', 'content'],
        properties: {
          role: { enum: ['user', 'user', 'system', 'assistant', 'tool', 'developer'] },
          // The simulator would think and write as slowly as a model.
          content: {
            anyOf: [
              { const: 'Hi [[sim ttft_ms=0 chunk_ms=0 words=3]]' },
              { const: '[[sim ttft_ms=0 chunk_ms=0 words=0 usage=none]]' },
              { const: '[[sim nonsense]]' },
              { const: [{ type: 'text', text: '[[sim ttft_ms=0 chunk_ms=0 words=2]] x' }] },
              { type: 'string' },
              { const: null },
            ],
          },
          name: { type: 'string' },
          tool_calls: { type: 'array', items: {} },
        },
      },
    },
    stream: { type: 'boolean' },
    stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } } },
    n: { type: 'integer', minimum: 1, maximum: 3 },
    max_tokens: { type: 'integer', minimum: 1, maximum: 1e9 },
    max_completion_tokens: { type: 'integer', minimum: 1, maximum: 50 },
    stop: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    temperature: { type: 'number', minimum: 0, maximum: 2 },
    response_format: { anyOf: [{ const: { type: 'json_object' } }, {}] },
    tools: {
      type: 'array',
      items: {
        anyOf: [{ const: { type: 'function', function: { name: 'f', parameters: { type: 'object' } } } }, {}],
      },
    },
    tool_choice: { anyOf: [{ enum: ['auto', 'none', 'required'] }, {}] },
  },
};
const embeddings: Schema = {
  type: 'object',
  required: ['model', 'input'],
  properties: {
    model: { enum: ['gateway/embed', 'gateway/embed', 'gateway/fast'] },
    input: {
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', items: { type: 'string' } },
        { type: 'array', items: { type: 'integer', minimum: 0 } },
      ],
    },
    encoding_format: { enum: ['float', 'base64', 'x'] },
    dimensions: { enum: [768, 1] },
  },
};

const v1: Operation[] = [
  { method: 'POST', path: '/v1/chat/completions', body: chat, query: [] },
  { method: 'POST', path: '/v1/embeddings', body: embeddings, query: [] },
  { method: 'GET', path: '/v1/models', body: undefined, query: [] },
];

/** Answers that few operations give, and only to an input that is right. */
const RARE = ['201', '204'];
const RARE_TIMES = 6;

/** Every operation of the platform that the product documents, once. */
export const documentedOperations = (): Operation[] => documented().map(({ operation }) => operation);

/** What the fuzzer draws from: operations that create or remove something come more often, and those of `/v1` as often as all others together. */
export function operations(): Operation[] {
  const often = documented().flatMap(({ operation, isRare }) =>
    Array.from({ length: isRare ? RARE_TIMES : 1 }, () => operation),
  );
  const times = Math.ceil(often.length / v1.length);
  return [...often, ...Array.from({ length: times }, () => v1).flat()];
}

function documented(): { operation: Operation; isRare: boolean }[] {
  const document = JSON.parse(readFileSync('schema/openapi.json', 'utf8')) as {
    paths: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, Schema> };
  };
  const named = (schema: (Schema & { $ref?: string }) | undefined): Schema | undefined =>
    schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)!] : schema;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const query = (described.parameters ?? []).filter((parameter) => parameter.in === 'query');
      return {
        operation: {
          method: method.toUpperCase(),
          path,
          body: named(described.requestBody?.content?.['application/json']?.schema),
          query: query.map(({ name, schema = {} }) => ({ name, schema })),
        },
        isRare: RARE.some((status) => described.responses?.[status]),
      };
    }),
  );
}

/** Paths, whether they exist or not. */
export const PATHS = [
  // Without the one file of 3 MB, which says nothing about anyone.
  ...platformRoutes.map(({ url }) => url.replace(/:(\w+)/g, '{$1}')).filter((url) => !url.endsWith('.js')),
  ...v1.map(({ path }) => path),
  ...[
    '/v1',
    '/v1/',
    '/',
    '/graphql',
    '/widget/v1.js',
    '/api/widget/chat',
    '/favicon.ico',
    '/api',
    '/dashboard',
  ],
  ...['/v1/%zz', '//', '/%', '/v1/models/gateway/fast', '/health/ready'],
];

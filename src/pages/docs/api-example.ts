import { operationAccess } from './api-access.js';
import { type ApiDocument, type ApiOperation, SCHEMAS, type Schema } from './openapi-types.js';

const DEPTH = 4;
const BY_FORMAT: Readonly<Record<string, string>> = {
  email: 'you@example.com',
  uuid: '019aa7c1-5f0e-7cc3-98c1-1a2b3c4d5e6f',
};

/** A value that a schema takes: its own example, else the first that fits. */
function sample(schema: Schema, document: ApiDocument, depth = 0): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.$ref) {
    const named = document.components.schemas[schema.$ref.slice(SCHEMAS.length)];
    return named && depth < DEPTH ? sample(named, document, depth + 1) : {};
  }
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = (schema.anyOf ?? schema.oneOf)?.[0];
  if (choice) return sample(choice, document, depth + 1);
  const type = [schema.type].flat()[0];
  if (type === 'object') {
    const wanted = Object.entries(schema.properties ?? {}).filter(
      ([name]) => !schema.required || schema.required.includes(name),
    );
    return Object.fromEntries(wanted.map(([name, field]) => [name, sample(field, document, depth + 1)]));
  }
  if (type === 'array') return schema.items ? [sample(schema.items, document, depth + 1)] : [];
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  return BY_FORMAT[schema.format ?? ''] ?? 'text';
}

/** The URL with path parameters and required query parameters as shell variables. */
function addressOf(path: string, { parameters = [] }: ApiOperation, baseUrl: string): string {
  const required = parameters.filter((one) => one.in === 'query' && one.required);
  const query = required.map(({ name }) => `${name}=$${name}`).join('&');
  return `${baseUrl}${path.replace(/\{(\w+)\}/g, '$$$1')}${query && `?${query}`}`;
}

/** A curl call of an operation. Secrets are shell variables, which the caller has to set. */
export function curlExample(
  { method, path, operation }: { method: string; path: string; operation: ApiOperation },
  document: ApiDocument,
  baseUrl: string,
): string {
  const { variable } = operationAccess(operation);
  const body = operation.requestBody?.content?.['application/json'];
  const parts = [
    `curl "${addressOf(path, operation, baseUrl)}"`,
    ...(method === 'GET' || (method === 'POST' && body) ? [] : [`-X ${method}`]),
    ...(variable === undefined ? [] : [`-H "Authorization: Bearer ${variable}"`]),
    ...(body
      ? [
          `-H 'Content-Type: application/json'`,
          `-d '${JSON.stringify(body.example ?? sample(body.schema, document)).replaceAll("'", "'\\''")}'`,
        ]
      : []),
  ];
  return parts.join(' \\\n  ');
}

import { EXAMPLES } from './openapi-examples.js';

interface Schema {
  $ref?: string;
  description?: string;
  type?: unknown;
  anyOf?: Schema[];
}

interface Response {
  description: string;
  content?: Record<string, { schema: Schema }>;
}

interface RequestBody {
  required?: boolean;
  content: Record<string, { schema: Schema; example?: object }>;
}

interface Operation {
  operationId: string;
  requestBody?: RequestBody;
  responses: Record<string, Response>;
}

/** The parts of an OpenAPI document that are completed here. */
export interface OpenApiDocument {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Operation>>;
}

const SCHEMAS = '#/components/schemas/';

/**
 * Completes the collected document: responses refer to named schemas; 202, 204 and 304 have no body; nullable bodies
 * are optional; bodies have examples; and unused schemas are removed (each exists as input and as output).
 */
export function finishDocument(document: OpenApiDocument): OpenApiDocument {
  const { schemas } = document.components;
  for (const operations of Object.values(document.paths)) {
    for (const { operationId, requestBody, responses } of Object.values(operations)) {
      if (requestBody) finishBody(operationId, requestBody, schemas);
      for (const [status, response] of Object.entries(responses)) describeResponse(status, response, schemas);
    }
  }
  const used = usedSchemas(document);
  const named = Object.entries(schemas).filter(([name]) => used.has(name));
  named.sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(named) } };
}

function finishBody(operationId: string, body: RequestBody, schemas: Record<string, Schema>): void {
  const json = body.content['application/json']!;
  const named = json.schema.$ref && schemas[json.schema.$ref.slice(SCHEMAS.length)];
  if ((named || json.schema).anyOf?.some(({ type }) => type === 'null')) body.required = false;
  const example = EXAMPLES[operationId];
  if (example) json.example = example;
}

function describeResponse(status: string, response: Response, schemas: Record<string, Schema>): void {
  const { $ref } = Object.values(response.content ?? {})[0]?.schema ?? {};
  const description = $ref && schemas[$ref.slice(SCHEMAS.length)]?.description;
  if (description && response.description === NO_DESCRIPTION) response.description = description;
  if (['202', '204', '304'].includes(status)) delete response.content;
}

/** The text that @fastify/swagger inserts for a missing description. */
const NO_DESCRIPTION = 'Default Response';

/** Names of the schemas that the operations use, directly or indirectly. */
function usedSchemas({ paths, components }: OpenApiDocument): Set<string> {
  const used = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name!)) continue;
      used.add(name!);
      visit(components.schemas[name!]);
    }
  };
  visit(paths);
  return used;
}

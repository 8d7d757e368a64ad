/** The parts of an OpenAPI 3.1 document that the reference shows. */
export interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  default?: unknown;
  example?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

interface Body {
  description?: string;
  content?: Record<string, { schema: Schema; example?: unknown }>;
}

export interface ApiOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: Body;
  responses: Record<string, Body>;
}

export interface ApiDocument {
  info: { description: string };
  tags: { name: string; description: string }[];
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, ApiOperation>>;
}

export const SCHEMAS = '#/components/schemas/';

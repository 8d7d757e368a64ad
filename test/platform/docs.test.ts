import { readFile } from 'node:fs/promises';
import { openApiText } from '../../src/cli/openapi-document.js';
import { call } from '../support/api.js';
import { platformRoutes } from '../support/platform-routes.js';
import { usePlatform } from '../support/platform-suite.js';

interface Schema {
  $ref?: string;
  description?: string;
  type?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
  minProperties?: number;
}
interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

describe('the OpenAPI document', () => {
  let text: string;
  let document: Document;
  beforeAll(async () => {
    text = await openApiText();
    document = JSON.parse(text) as Document;
  });

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    );

  const SCHEMAS = '#/components/schemas/';
  /** What a reference names; anything else is itself. */
  const named = (schema: Schema): Schema =>
    schema.$ref ? document.components.schemas[schema.$ref.slice(SCHEMAS.length)]! : schema;
  const bodiesOf = ({ requestBody, responses }: Operation): Schema[] =>
    [requestBody, ...Object.values(responses)].flatMap((body) =>
      Object.values(body?.content ?? {}).map(({ schema }) => schema),
    );

  test('is the committed one: after a change run node dist/cli/emit-openapi.js', async () => {
    expect(await readFile('schema/openapi.json', 'utf8')).toBe(text);
  });

  test('is OpenAPI 3.1 and holds every route of the API', () => {
    expect(document.openapi).toBe('3.1.0');
    const promised = platformRoutes
      .filter((entry) => entry.headers === 'api' && !['/openapi.json', '/graphql'].includes(entry.url))
      .map((entry) => `${entry.method} ${entry.url.replace(/:(\w+)/g, '{$1}')}`);
    expect(
      operations()
        .map(([name]) => name)
        .sort(),
    ).toEqual(promised.sort());
  });

  test('describes every operation and every field', () => {
    const missing: string[] = [];
    const check = (where: string, schema: Schema): void => {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        const described = [field, named(field), ...(field.anyOf ?? [])].some(
          ({ description }) => description,
        );
        if (!described) missing.push(`${where}.${name}`);
        check(`${where}.${name}`, field);
      }
      if (schema.items) check(`${where}[]`, schema.items);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) check(name, schema);
    for (const [name, operation] of operations()) {
      for (const part of ['operationId', 'summary', 'description'] as const) {
        if (!operation[part]) missing.push(`${name}: ${part}`);
      }
      for (const parameter of operation.parameters ?? []) {
        if (!parameter.description && !parameter.schema.description)
          missing.push(`${name}: ${parameter.name}`);
      }
      for (const schema of bodiesOf(operation)) check(name, schema);
      for (const [status, { description }] of Object.entries(operation.responses)) {
        if (!description || description === 'Default Response') missing.push(`${name}: ${status}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test('names every body, so that a generated client has a type for it', () => {
    const nameless = operations().flatMap(([name, operation]) =>
      bodiesOf(operation)
        .filter((schema) => schema.type !== 'string' && !(schema.items ?? schema).$ref)
        .map(() => name),
    );
    expect(nameless).toEqual([]);
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['ApiKey', 'CreateApiKeyInput', 'Error', 'LedgerEntry', 'Session', 'UsagePage']),
    );
  });

  test('says of every operation that it may be refused as one too many, or for now; of writes, for their body', () => {
    const silent = operations().flatMap(([name, { responses }]) => {
      const expected = ['429', '503', ...(name.startsWith('GET ') ? [] : ['400', '413', '415'])];
      return expected.filter((status) => !responses[status]).map((status) => `${name}: ${status}`);
    });
    expect(silent).toEqual([]);
  });

  test('has no body where an answer has none', () => {
    const empty = operations().flatMap(([, { responses }]) => responses['204'] ?? []);
    expect(empty.length).toBeGreaterThan(3);
    for (const response of empty) expect(Object.keys(response)).toEqual(['description']);
  });

  test('says that a change names something, and what is trimmed', () => {
    const changes = operations().filter(([name]) => name.startsWith('PATCH '));
    expect(changes.length).toBeGreaterThan(2);
    for (const [, { requestBody }] of changes) {
      expect(named(requestBody!.content['application/json']!.schema).minProperties).toBe(1);
    }
    const { schemas } = document.components;
    for (const name of ['SignupInput', 'CreateApiKeyInput', 'UpdateApiKeyInput']) {
      expect(schemas[name]!.properties!.name!.description).toContain(
        'Leading and trailing spaces are removed.',
      );
    }
  });
});

describe('/docs/api', () => {
  const suite = usePlatform();

  test('loads its script and document from this site only', async () => {
    const page = await call(suite.url, 'GET', '/docs/api');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).not.toMatch(/https?:\/\//);
    const address = /<script src="(\/assets\/[^"]+)">/.exec(page.text)![1]!;
    const script = await call(suite.url, 'GET', address);
    expect([script.status, script.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ]);
    // The browser takes a third of it, once.
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect(script.headers.get('content-encoding')).toMatch(/^(?:br|gzip)$/);
    expect(script.text.length).toBeGreaterThan(1_000_000);
    const document = await call<Document>(suite.url, 'GET', '/openapi.json');
    expect(document.body.paths['/api/auth/login']).toBeDefined();
  });

  test('is where a browser at the bare address is sent', async () => {
    const { status, headers } = await call(suite.url, 'GET', '/', { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, '/docs/api']);
  });

  test('runs the one inline script that carries the nonce of this answer', async () => {
    const pages = await Promise.all([1, 2].map(() => call(suite.url, 'GET', '/docs/api')));
    const nonces = pages.map((page) => {
      const policy = page.headers.get('content-security-policy')!;
      const nonce = /script-src 'self' 'nonce-([^']+)'/.exec(policy)![1]!;
      expect(page.text).toContain(`<script nonce="${nonce}">`);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      return nonce;
    });
    expect(nonces[0]).not.toBe(nonces[1]);
  });
});

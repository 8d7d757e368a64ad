import { readFile } from 'node:fs/promises';
import { openApiText } from '../../src/cli/openapi-document.js';
import { routeTable } from '../../src/platform/route-table.js';
import { call } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

type Schema = { description?: string; anyOf?: Schema[]; properties?: Record<string, Schema>; items?: Schema };
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

  test('is the committed one: after a change run node dist/cli/emit-openapi.js', async () => {
    expect(await readFile('schema/openapi.json', 'utf8')).toBe(text);
  });

  test('is OpenAPI 3.1 and holds every route of the API', () => {
    expect(document.openapi).toBe('3.1.0');
    const promised = routeTable
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
        const described = [field, ...(field.anyOf ?? [])].some((schema) => schema.description);
        if (!described) missing.push(`${where}.${name}`);
        check(`${where}.${name}`, field);
      }
      if (schema.items) check(`${where}[]`, schema.items);
    };
    for (const [name, operation] of operations()) {
      for (const part of ['operationId', 'summary', 'description'] as const) {
        if (!operation[part]) missing.push(`${name}: ${part}`);
      }
      for (const parameter of operation.parameters ?? []) {
        if (!parameter.description && !parameter.schema.description)
          missing.push(`${name}: ${parameter.name}`);
      }
      const bodies = [operation.requestBody, ...Object.values(operation.responses)];
      for (const body of bodies) {
        for (const { schema } of Object.values(body?.content ?? {})) check(name, schema);
      }
    }
    expect(missing).toEqual([]);
  });
});

describe('/docs/api', () => {
  const suite = usePlatform();

  test('loads its script and document from this site only', async () => {
    const page = await call(suite.url, 'GET', '/docs/api');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).not.toMatch(/https?:\/\//);
    const script = await call(suite.url, 'GET', '/docs/api/reference.js');
    expect([script.status, script.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ]);
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

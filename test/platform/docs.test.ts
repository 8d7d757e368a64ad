import { readFile } from 'node:fs/promises';
import { openApiText } from '../../src/cli/openapi-document.js';
import { textOf } from '../pages/support.js';
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
  security?: Record<string, string[]>[];
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: Schema & { default?: unknown };
  }[];
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

  /** Operations of the account API, without those of the edge. */
  const operations = () =>
    Object.entries(document.paths)
      .filter(([path]) => !/^\/(?:v1|api\/widget)\//.test(path))
      .flatMap(([path, methods]) =>
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

  test('is OpenAPI 3.1 and contains every route of the API', () => {
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

  test('describes the defaults of page, window and order of a query', () => {
    const reported = operations().flatMap(([name, { parameters = [] }]) =>
      parameters.flatMap(({ name: field, schema }) =>
        /^(?:limit|offset|window_days|ends_days_ago|sort_by|unit|time_zone|kind)$/.test(field)
          ? [[name, field, schema.default] as const]
          : [],
      ),
    );
    const defaultsOf = (field: string) =>
      new Set(reported.flatMap(([, named, value]) => (named === field ? [value] : [])));
    expect(reported.length).toBeGreaterThan(40);
    // A filter: without it, the export has all calls.
    expect(reported.filter(([, , value]) => value === undefined)).toEqual([
      ['GET /api/usage.csv', 'window_days', undefined],
    ]);
    expect(defaultsOf('limit')).toEqual(new Set([50]));
    expect(defaultsOf('offset')).toEqual(new Set([0]));
    expect(reported).toContainEqual(['GET /api/usage/analytics', 'window_days', 30]);
    expect(reported).toContainEqual(['GET /api/leaderboard', 'window_days', 7]);
  });

  test('names every body, so that generated clients have a type for it', () => {
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

  test('describes for every operation the errors of rate limits and outages, and for writes those of the body', () => {
    const silent = operations().flatMap(([name, { responses }]) => {
      const expected = ['429', '503', ...(name.startsWith('GET ') ? [] : ['400', '413', '415'])];
      return expected.filter((status) => !responses[status]).map((status) => `${name}: ${status}`);
    });
    expect(silent).toEqual([]);
  });

  test('states the size limit of each body, the same as in docs/api.md', async () => {
    const reported = Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/api/'))
      .flatMap(([path, methods]) =>
        Object.values(methods).flatMap(({ requestBody, responses }) =>
          requestBody
            ? [[path, /larger than (\d+ KiB) /.exec(responses['413']!.description)?.[1]] as const]
            : [],
        ),
      );
    expect(reported).toContainEqual(['/api/keys', '16 KiB']);
    expect(reported).toContainEqual(['/api/playground', '768 KiB']);
    expect(reported.filter(([, size]) => size === undefined)).toEqual([]);
    const guide = await readFile('docs/api.md', 'utf8');
    const [row] = /^\| body of a request below `\/api`.*$/m.exec(guide)!;
    const sizes = new Set([...row.matchAll(/\d+ KiB/g)].map(([size]) => size));
    expect(sizes).toEqual(new Set(reported.map(([, size]) => size)));
  });

  test("contains the edge's responses under /v1, with its errors", () => {
    const inference = Object.entries(document.paths).filter(([path]) => path.startsWith('/v1/'));
    expect(inference.map(([path, methods]) => [path, Object.keys(methods)])).toEqual([
      ['/v1/chat/completions', ['post']],
      ['/v1/embeddings', ['post']],
      ['/v1/responses', ['post']],
      ['/v1/models', ['get']],
    ]);
    expect(document.paths['/v1/responses']!.post!.description).toContain('RESPONSES_API=1');
    expect(document.paths['/v1/responses']!.post!.responses['404']!.description).toContain(
      '`endpoint_not_supported`',
    );
    for (const path of ['/v1/chat/completions', '/v1/embeddings', '/v1/responses'])
      expect(document.paths[path]!.post!.parameters).toMatchObject([
        { name: 'x-gateway-prompt-version', in: 'header', required: false },
      ]);
    const reported = JSON.stringify(inference);
    for (const code of ['invalid_body', 'invalid_api_key', 'insufficient_credits', 'model_not_allowed']) {
      expect(reported).toContain(`\`${code}\``);
    }
  });

  test("describes the edge's responses as they are", () => {
    const silent = Object.entries(document.paths)
      .filter(([path]) => /^\/(?:v1|api\/widget)\//.test(path))
      .flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, { responses }]) => {
          const expected = ['429', '503', ...(method === 'get' ? [] : ['400', '408', '413', '415'])];
          return expected.filter((status) => !responses[status]).map((status) => `${path}: ${status}`);
        }),
      );
    expect(silent).toEqual([]);
  });

  test('has no body for responses without one', () => {
    const empty = operations().flatMap(([, { responses }]) =>
      [responses['202'] ?? [], responses['204'] ?? []].flat(),
    );
    expect(empty.length).toBeGreaterThan(3);
    for (const response of empty) expect(Object.keys(response)).toEqual(['description']);
  });

  test('says that changes need at least one field, and what is trimmed', () => {
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
  const suite = usePlatform({ env: { PUBLIC_BASE_URL: 'https://gateway.example.com' } });

  test('is complete without scripts: every operation, with /v1, no inline script, the installation’s own URL', async () => {
    const page = await call(suite.url, 'GET', '/docs/api');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const { body } = await call<Document>(suite.url, 'GET', '/openapi.json');
    const ids = Object.values(body.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(ids.length).toBeGreaterThan(30);
    expect(ids).toContain('createChatCompletion');
    expect(ids.filter((id) => !page.text.includes(`<h3 id="${id}">`))).toEqual([]);
    expect(page.text).toContain('curl &#34;https://gateway.example.com/v1/chat/completions&#34;');
    expect(page.text).not.toContain('localhost');
    expect(page.text.match(/<script(?! type="application\/ld\+json")[^>]*>[^<]|<style|style="/g)).toBeNull();
    expect(page.text).toMatch(/<meta name="description" content="[^"]{30,}">/);
    // Links within the page lead somewhere.
    const targets = [...page.text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!);
    expect(targets.filter((id) => !page.text.includes(`id="${id}"`))).toEqual([]);
  });

  test('shows for each operation its credentials, and an example with them and all required query parameters', async () => {
    const page = await call(suite.url, 'GET', '/docs/api');
    const { body } = await call<Document>(suite.url, 'GET', '/openapi.json');
    const reported = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => {
        const [, section] = page.text.split(`<h3 id="${operation.operationId}">`);
        const [, access, rest] = /<\/code> (.*?)<\/p>([\s\S]*)/.exec(section!)!;
        const [, example] = /<code>(curl [\s\S]*?)<\/code>/.exec(rest!)!;
        return { path, operation, access, example: textOf(example!) };
      }),
    );
    const expected = ({ security }: Operation) =>
      ({
        '': ['No authentication.', undefined],
        key: ['With an API key.', '$KEY'],
        internal: ['With the value of <code>GPU_HEARTBEAT_SECRET</code>.', '$GPU_HEARTBEAT_SECRET'],
        session: ['With a session.', '$TOKEN'],
      })[security === undefined ? 'session' : Object.keys(security[0] ?? {}).join()];
    for (const { path, operation, access, example } of reported)
      expect([path, access, /Bearer (\$\w+)/.exec(example)?.[1]]).toEqual([path, ...expected(operation)!]);
    expect(
      reported.filter(({ access }) => access!.includes('GPU_HEARTBEAT_SECRET')).map(({ path }) => path),
    ).toEqual(['/api/internal/gpu-nodes/{id}/heartbeat', '/api/internal/benchmarks']);
    const asked = reported.flatMap(({ path, operation, example }) => {
      const names = (operation.parameters ?? []).flatMap((one) =>
        one.in === 'query' && one.required ? [one.name] : [],
      );
      return names.length === 0 ? [] : [[path, names, example] as const];
    });
    expect(asked.length).toBeGreaterThan(3);
    for (const [path, names, example] of asked)
      expect([path, example]).toEqual([
        path,
        expect.stringContaining(`?${names.map((name) => `${name}=$${name}`).join('&')}"`),
      ]);
  });

  test('weighs a hundredth of its former size', async () => {
    const page = await call(suite.url, 'GET', '/docs/api', { headers: { 'accept-encoding': 'br' } });
    expect(page.headers.get('content-encoding')).toBe('br');
    // Read by the client: what went over the wire is less.
    expect(page.text.length).toBeLessThan(480_000);
  });
});

describe('an unknown URL', () => {
  const suite = usePlatform();
  const ask = (path: string, accept: string, method = 'GET') =>
    call<{ error: { code: string } }>(suite.url, method, path, { headers: { accept } });

  test('is a page for browsers and JSON for other clients; below /api and /v1 it is JSON for all', async () => {
    const page = await ask('/nothing', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8');
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Page not found');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(page.headers.get('vary')).toContain('accept');
    for (const [path, accept, method] of [
      ['/nothing', '*/*', 'GET'],
      ['/nothing', 'application/json', 'GET'],
      ['/nothing', 'text/html', 'POST'],
      ['/api/nothing', 'text/html', 'GET'],
      ['/v1/nothing', 'text/html', 'GET'],
      ['/assets/nothing.js', 'text/html', 'GET'],
    ] as const) {
      const answer = await ask(path, accept, method);
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 404, 'not_found']);
    }
  });
});

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { accessOf } from '../../src/graphql/access.js';
import { createSchema, schemaText } from '../../src/graphql/schema.js';
import { EXAMPLE_BASE, subscriptionExample } from '../../src/pages/docs/subscription-example.js';
import { call, PASSWORD, signUp } from '../support/api.js';
import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import { until } from '../support/until.js';

const plain = (html: string): string =>
  html.replace(/&#(\d+);/g, (_all, number: string) => String.fromCharCode(Number(number)));

describe('/docs/graphql', () => {
  const suite = useProduct();

  test('is a page without resources of other sites, linked from /docs', async () => {
    const index = await call(suite.url, 'GET', '/docs');
    expect(index.text).toContain('href="/docs/graphql"');
    const page = await call(suite.url, 'GET', '/docs/graphql');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    // Its own address for search engines, and what the page is about, which is data.
    const rest = page.text
      .replace(`href="${suite.url}/docs/graphql"`, '')
      .replace(/<script type="application\/ld\+json">[^<]*<\/script>/, '');
    expect(rest).not.toMatch(/(?:src|href)="https?:|<script\b[^>]*>[^<]|style="/);
    for (const id of ['authentication', 'errors', 'paging', 'subscriptions', 'limits']) {
      expect(page.text).toContain(`<section id="${id}">`);
    }
    const shown = subscriptionExample.trim().replace(EXAMPLE_BASE, suite.url);
    expect(plain(page.text)).toContain(shown);
    const style = /<link rel="stylesheet" href="([^"]+)">/.exec(page.text)![1]!;
    expect((await call(suite.url, 'GET', style)).headers.get('content-type')).toBe('text/css; charset=utf-8');
  });

  test('names the operations that need no session, as docs/api.md does, and no others', async () => {
    const schema = createSchema();
    const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    const open = roots
      .flatMap((type) => Object.values(type!.getFields()))
      .flatMap((field) => (accessOf(field) === 'public' ? [field.name] : []))
      .toSorted();
    expect(open).toContain('leaderboard');
    const page = await call(suite.url, 'GET', '/docs/graphql');
    const reported = /without one: (.+?)\.<\/p>/.exec(page.text)![1]!;
    expect([...reported.matchAll(/<code>(\w+)<\/code>/g)].map(([, name]) => name).toSorted()).toEqual(open);
    const written = /in GraphQL (`plans`[^.]+)\./.exec(readFileSync('docs/api.md', 'utf8'))![1]!;
    expect([...written.matchAll(/`(\w+)`/g)].map(([, name]) => name).toSorted()).toEqual(open);
  });

  test('its documents are valid in the schema', async () => {
    const schema = buildSchema(schemaText(createSchema()));
    const page = await call(suite.url, 'GET', '/docs/graphql');
    const blocks = [...page.text.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)].map(([, block]) =>
      plain(block!),
    );
    const inline = [
      ...page.text.matchAll(/(?:query|&#34;query&#34;): ?(?:&#39;|&#34;)(.+?)(?:&#39;,|&#34;})/g),
    ];
    const documents = [
      ...blocks.filter((block) => /^(?:query|mutation|subscription)\b/.test(block)),
      ...inline.map(([, document]) => plain(document!)),
    ];
    expect(documents.length).toBeGreaterThanOrEqual(5);
    for (const document of documents) expect(validate(schema, parse(document))).toEqual([]);
  });

  test('its example runs unchanged and prints a call that is made in the meantime', async () => {
    const email = `${randomUUID()}@example.com`;
    const { token } = await signUp(suite.url, { email });
    const { key } = await suite.api<{ key: string }>(token, 'POST', '/api/keys', { name: 'example' });
    // Inside the checkout, so that it finds graphql-ws.
    const folder = mkdtempSync(join(process.cwd(), 'build', 'example-'));
    const path = join(folder, 'usage.mjs');
    writeFileSync(path, subscriptionExample);
    const child = spawn(process.execPath, [path], {
      env: { GATEWAY_URL: suite.url, GATEWAY_EMAIL: email, GATEWAY_PASSWORD: PASSWORD },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    try {
      await until(() => output.includes('connected'), { what: `the example to connect: ${output}` });
      await until(
        async () => {
          expect((await postChat(suite.url, key)).status).toBe(200);
          await until(() => output.includes('gateway/fast'), { timeoutMs: 500 }).catch(() => undefined);
          return output.includes('gateway/fast');
        },
        { what: 'the call to be printed' },
      );
      expect(output).toMatch(/gateway\/fast: \d+ in, \d+ out, \$0\.\d{6,12}\n/);
      expect(child.exitCode).toBeNull();
    } finally {
      child.kill();
      await until(() => child.exitCode !== null || child.signalCode !== null);
      rmSync(folder, { recursive: true });
    }
  });

  test('its example explains why it can’t log in', async () => {
    const folder = mkdtempSync(join(process.cwd(), 'build', 'example-'));
    const path = join(folder, 'usage.mjs');
    writeFileSync(path, subscriptionExample.replace('shouldRetry: () => true', 'retryAttempts: 0'));
    const child = spawn(process.execPath, [path], {
      env: { GATEWAY_URL: suite.url, GATEWAY_EMAIL: 'nobody@example.com', GATEWAY_PASSWORD: 'x' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.on('data', (chunk) => (output += chunk));
    // Not before all that it has written was read.
    await once(child, 'close');
    rmSync(folder, { recursive: true });
    expect(output).toContain('invalid_credentials: Email or password is wrong.');
  });
});

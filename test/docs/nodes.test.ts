import { readFileSync } from 'node:fs';
import { parseRouting } from '../../src/router/config-file.js';
import { comparePrices } from '../../src/router/price-check.js';
import { ask, post } from '../proxy/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy } from '../support/proxy.js';
import {
  chat,
  embeddings,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.js';

const environment = { NODE_KEY: 'node-secret', PROVIDER_KEY: 'provider-secret' };
/** Heading and configuration of each section of docs/nodes.md that has one. */
const configurations = readFileSync('docs/nodes.md', 'utf8')
  .split(/^## /m)
  .flatMap((section): [string, string][] => {
    const [, text] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
    return text === undefined ? [] : [[section.split('\n', 1)[0]!, text]];
  });

describe('the configurations of docs/nodes.md', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
  });
  afterAll(async () => {
    await node.close();
    await db.close();
  });

  test('are there for every server that it speaks of', () => {
    const headings = configurations.map(([heading]) => heading);
    for (const server of ['vLLM', 'SGLang', 'Ollama', 'llama.cpp', 'Any provider', 'Several nodes']) {
      expect(headings.some((heading) => heading.startsWith(server))).toBe(true);
    }
  });

  test.each(configurations)('%s: has the prices of the model table', async (_heading, text) => {
    const { deployments } = parseRouting(text, 'docs/nodes.md', environment);
    const { findings } = await comparePrices(db.orm, deployments);
    expect(findings.map(({ fault }) => fault)).toEqual(deployments.map(() => undefined));
  });

  test.each(configurations)(
    '%s: reaches each of its nodes, and answers by the public name',
    async (_heading, text) => {
      const { deployments } = parseRouting(text, 'docs/nodes.md', environment);
      // The same file with our node in the places of theirs.
      const config = text.replaceAll(/(api_base: )https?:\/\/[^/\s]+/g, `$1${node.url}`);
      const proxy = await startTestProxy(db, { config, environment, random: Math.random });
      try {
        for (const { group, node: access } of deployments) {
          const { upstreamModel, apiBase, apiKey } = access.read();
          const kind = group === 'gateway/embed' ? 'embeddings' : 'chat/completions';
          node.answer(kind === 'embeddings' ? embeddings() : chat());
          const response = await post(`${proxy.url}/v1/${kind}`, proxy.masterKey, ask('x', { model: group }));
          expect([response.status, ((await response.json()) as { model: string }).model]).toEqual([
            200,
            group,
          ]);
          const { url, headers, body } = node.seen.at(-1)!;
          expect(url).toBe(`${new URL(apiBase).pathname}/${kind}`);
          expect(headers.authorization).toBe(apiKey && `Bearer ${apiKey}`);
          expect(JSON.parse(body).model).toBe(upstreamModel);
        }
      } finally {
        await proxy.close();
      }
    },
  );
});

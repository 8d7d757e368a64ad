import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../node_modules/promptfoo/dist/src/entrypoint.js', import.meta.url));
const FAST = '[[sim ttft_ms=1 chunk_ms=0]]';
const PLAN = {
  type: 'object',
  properties: { title: { type: 'string' }, days: { type: 'integer' } },
  required: ['title', 'days'],
  additionalProperties: false,
};

/** An evaluation as its documentation writes one for a compatible server. */
function evaluation({ url, key }) {
  const server = { apiBaseUrl: `${url}/v1`, apiKey: key };
  const provider = (label, rest = {}) => ({
    id: 'openai:chat:gateway/qwen-pro',
    label,
    config: { ...server, ...rest },
  });
  const format = { type: 'json_schema', json_schema: { name: 'plan', strict: true, schema: PLAN } };
  return {
    prompts: [`${FAST} Tell me about {{topic}}`],
    providers: [provider('chat'), provider('structured', { response_format: format })],
    defaultTest: {
      options: { provider: { embedding: { id: 'openai:embedding:gateway/embed', config: server } } },
    },
    tests: [
      {
        description: 'text',
        vars: { topic: 'rivers' },
        providers: ['chat'],
        assert: [{ type: 'icontains', value: 'rivers' }],
      },
      {
        description: 'similarity, by embeddings',
        vars: { topic: 'rivers' },
        providers: ['chat'],
        assert: [{ type: 'similar', value: 'a simulated answer about rivers', threshold: 0.2 }],
      },
      {
        description: 'cost and latency come along',
        vars: { topic: 'lakes' },
        providers: ['chat'],
        assert: [{ type: 'latency', threshold: 10_000 }],
      },
      {
        description: 'JSON schema',
        vars: { topic: 'seas' },
        providers: ['structured'],
        assert: [{ type: 'is-json', value: PLAN }],
      },
    ],
  };
}

export async function run(checks, product) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-promptfoo-'));
  try {
    const [config, output] = [join(folder, 'config.json'), join(folder, 'results.json')];
    writeFileSync(config, JSON.stringify(evaluation(product)));
    const child = spawn(
      process.execPath,
      [program, 'eval', '-c', config, '-o', output, '--no-cache', '--no-write', '--no-table'],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          PROMPTFOO_CONFIG_DIR: folder,
          PROMPTFOO_DISABLE_TELEMETRY: '1',
          PROMPTFOO_DISABLE_UPDATE: '1',
          PROMPTFOO_DISABLE_REMOTE_GENERATION: '1',
          PROMPTFOO_SELF_HOSTED: '1',
        },
      },
    );
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
    await once(child, 'close');
    const { results } = JSON.parse(
      await Promise.resolve()
        .then(() => readFileSync(output, 'utf8'))
        .catch(() => {
          throw new Error(said);
        }),
    );
    assert.equal(results.results.length, evaluation(product).tests.length);
    for (const { testCase, success, error, response } of results.results)
      await checks.check(testCase.description, async () => {
        if (!success) throw new Error(error ?? 'no success');
        assert.ok(response.tokenUsage.total > 0);
      });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

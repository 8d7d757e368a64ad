import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EstimateOutput } from '../../src/services/migration/migration.outputs.js';
import { call } from '../support/api.js';
import { useProduct } from '../support/product-suite.js';

const run = promisify(execFile);

describe('the snippets of a migration estimate', () => {
  const suite = useProduct();
  let folder: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    const user = await suite.signUp('team');
    folder = mkdtempSync(join(tmpdir(), 'gateway-snippets-'));
    symlinkSync(realpathSync('node_modules'), join(folder, 'node_modules'));
    env = { PATH: process.env.PATH, GATEWAY_API_KEY: user.key };
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const snippetsFor = async (legacy_model: string) => {
    const { body } = await call<EstimateOutput>(suite.url, 'POST', '/api/migrate/estimate', {
      body: { legacy_provider: 'openai', legacy_model, input_tokens_30d: 1, output_tokens_30d: 1 },
    });
    return body.code_snippets;
  };

  test.each([
    ['gpt-4o', /\S/, '"object":"chat.completion"'],
    ['text-embedding-3-small', /^768$/m, '"object":"embedding"'],
  ])('for %s run unchanged', async (model, printed, answered) => {
    const { node, curl, python } = await snippetsFor(model);
    const file = join(folder, `${model}.mjs`);
    writeFileSync(file, node);
    expect((await run(process.execPath, [file], { env })).stdout).toMatch(printed);
    const { stdout } = await run('sh', ['-c', curl], { env });
    expect(stdout.replaceAll(' ', '')).toContain(answered);
    // Python isn't on every machine; its snippet says the same to the same address.
    expect(python).toContain(`base_url="${suite.url}/v1"`);
    expect(python).toContain('os.environ["GATEWAY_API_KEY"]');
  });
});

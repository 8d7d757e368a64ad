import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PASSWORD, signUp } from '../support/api.js';
import { PASTED, useProduct } from '../support/product-suite.js';
import { HEARTBEAT_SECRET } from '../support/secrets.js';
import { until } from '../support/until.js';

const run = promisify(execFile);

/** The blocks of one language below a heading of a document. */
function blocksOf(path: string, heading: string, language: string): string[] {
  const [, section] = readFileSync(path, 'utf8').split(`## ${heading}\n`);
  const [own] = section!.split(/^## /m);
  return [...own!.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, block]) => block!,
  );
}

describe('the commands of the documentation', () => {
  const suite = useProduct(PASTED);
  /** Pastes blocks into one shell, one after the other; gives what each of them printed. */
  const paste = async (blocks: string[], environment: Record<string, string> = {}): Promise<string[]> => {
    const script = blocks.join('\necho; echo NEXT\n').replaceAll('http://localhost:8080', suite.url);
    const { stdout } = await run('bash', ['-c', script], {
      env: { PATH: process.env.PATH, ...environment },
    });
    return stdout.split('\nNEXT\n');
  };

  test('of the quick start work as they stand, in a shell and with the SDK', async () => {
    // `npm start` starts the model proxy first; here the edge may not have heard yet who answers.
    const { key: anyKey } = await suite.signUp('free');
    const models = { headers: { authorization: `Bearer ${anyKey}` } };
    await until(async () => {
      const answer = await fetch(`${suite.url}/v1/models`, models);
      return (await answer.text()).includes('"owned_by":"simulator"');
    });
    const shell = blocksOf('README.md', 'Quick start', 'sh');
    const [signedUp, called, embedded, billed, key] = await paste([...shell, 'echo $KEY']);
    expect(signedUp!.trim()).toBe('');
    // curl ends no line of its own.
    const [, whole, events] = /^(\{.*?\})(data: [\s\S]*)$/.exec(called!.trim())!;
    expect(JSON.parse(whole!)).toMatchObject({ object: 'chat.completion', model: 'gateway/fast' });
    expect(events).toMatch(/\ndata: \[DONE\]$/);
    expect(embedded).toContain('"model":"gateway/embed"');
    expect(embedded).toContain('"owned_by":"simulator"');
    const [usage, before, after] = billed!.trim().match(/\{.*?\}(?=\{"balance_usd|$)/g)!;
    expect(JSON.parse(usage!)).toMatchObject({ limit: 3, offset: 0 });
    const balances = [before, after].map((text) => Number(JSON.parse(text!).balance_usd));
    expect(balances[1]! - balances[0]!).toBeCloseTo(10, 3);

    const [program] = blocksOf('README.md', 'Quick start', 'js');
    // Inside the checkout, so that it finds the SDK.
    const folder = mkdtempSync(join(process.cwd(), 'build', 'example-'));
    const path = join(folder, 'tour.mjs');
    writeFileSync(path, program!.replace('http://localhost:8080', suite.url));
    const { stdout } = await run(process.execPath, [path], { env: { KEY: key!.trim() } });
    rmSync(folder, { recursive: true });
    expect(stdout).toContain('\n2 vectors of 768\ngateway/fast simulator\ngateway/embed simulator\n');
  });

  test('of the node registry register, drain and hear a node', async () => {
    const { user } = await signUp(suite.url);
    await suite.db.pool.query(`update accounts set role = 'admin' where id = $1`, [user.id]);
    const [register, drain, hear] = blocksOf('docs/nodes.md', 'The node registry', 'sh');
    const asAdmin = register!
      .replace('admin@example.com', user.email)
      .replace('"password":"correct horse battery"', `"password":"${PASSWORD}"`);
    const [registered] = await paste([asAdmin]);
    const node = JSON.parse(registered!) as { id: string };
    expect(node).toMatchObject({ name: 'rack 1', status: 'active', health_status: 'unhealthy' });
    const environment = { NODE_ID: node.id, GPU_HEARTBEAT_SECRET: HEARTBEAT_SECRET };
    const login = asAdmin.slice(0, asAdmin.indexOf('curl $BASE/api/admin'));
    const [, drained, heard, removed] = await paste(
      [
        login,
        drain!,
        hear!,
        'curl -X DELETE $BASE/api/admin/gpu-nodes/$NODE_ID -H "authorization: Bearer $ADMIN_TOKEN"',
      ],
      environment,
    );
    expect(JSON.parse(drained!)).toMatchObject({ id: node.id, status: 'draining' });
    expect(JSON.parse(heard!)).toMatchObject({ node_id: node.id, health_status: 'healthy' });
    expect(removed!.trim()).toBe('');
  });
});

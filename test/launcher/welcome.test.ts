import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pointsAtSimulator, welcome } from '../../src/launcher/welcome.js';
import { temporaryFolder } from './support.js';

describe('the end of the start', () => {
  test('says that models are simulated when any of them is', () => {
    const folder = temporaryFolder();
    const path = join(folder.path, 'proxy.config.yaml');
    const write = (...bases: string[]) =>
      writeFileSync(
        path,
        JSON.stringify({ model_list: bases.map((base) => ({ litellm_params: { api_base: base } })) }),
      );
    expect(pointsAtSimulator(path)).toBe(false);
    write('http://10.0.0.5:8000/v1');
    expect(pointsAtSimulator(path)).toBe(false);
    write('http://10.0.0.5:8000/v1', 'os.environ/SIMULATOR_API_BASE');
    expect(pointsAtSimulator(path)).toBe(true);
    expect(welcome('http://localhost:1', true)).toContain('simulated');
    expect(welcome('http://localhost:1', false)).not.toContain('simulated');
    folder.remove();
  });

  test('shows commands that work as they are: the key of the second is the bearer of the third', async () => {
    const calls: string[] = [];
    const read = async (request: IncomingMessage): Promise<unknown> => {
      let text = '';
      for await (const chunk of request) text += chunk;
      return JSON.parse(text);
    };
    const answers: Record<string, unknown> = {
      '/api/auth/signup': { access_token: 'a.b-c_d', token_type: 'bearer', user: { id: 1 } },
      '/api/keys': { key: 'sk-pr-0aZ', api_key: { id: 1, key_prefix: 'sk-pr-0' } },
      '/v1/chat/completions': { choices: [] },
    };
    const server = createServer(async (request, response) => {
      const keys = Object.keys((await read(request)) as object).join();
      calls.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'} ${keys}`);
      response.end(JSON.stringify(answers[request.url!]));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const commands = welcome(url, false)
      .split('\n')
      .filter((line) => line.startsWith('    '))
      .join('\n');
    await promisify(execFile)('bash', ['-eu', '-c', commands]);
    expect(calls).toEqual([
      'POST /api/auth/signup - email,password,name',
      'POST /api/keys Bearer a.b-c_d name',
      'POST /v1/chat/completions Bearer sk-pr-0aZ model,messages',
    ]);
    server.close();
  });
});

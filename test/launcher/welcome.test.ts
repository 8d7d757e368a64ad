import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { NOT_SIMULATED, simulatedModels, welcome } from '../../src/launcher/welcome.js';

describe('the welcome', () => {
  test('says which models are simulated', () => {
    const modelsLine = (deployments: { group: string; simulated: boolean }[]) => {
      const line = welcome({ url: 'http://localhost:1', simulated: simulatedModels(deployments) })
        .split('\n')
        .find((one) => one.includes('Models'));
      return /simulated on this machine[^.]*/.exec(line ?? '')?.[0];
    };
    const real = { group: 'gateway/fast', simulated: false };
    const simulated = { group: 'gateway/embed', simulated: true };
    expect(modelsLine([real])).toBeUndefined();
    expect(modelsLine([simulated])).toBe('simulated on this machine');
    expect(modelsLine([real, simulated, simulated])).toBe('simulated on this machine: gateway/embed');
  });

  test('shows commands that work as printed, with the key of the second as the bearer of the third', async () => {
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
    const commands = welcome({ url, simulated: NOT_SIMULATED })
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

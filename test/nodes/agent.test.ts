import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeOutput } from '../../src/services/nodes/nodes.outputs.js';
import { signUpAdmin } from '../support/admin.js';
import { call } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { NODE_SECRET, register, WITH_SECRET } from './support.js';

const NVIDIA_SMI = `#!/bin/sh
echo "40, 20000"
echo "60, 10000"
`;
const VLLM = `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="gemma"} 7.0
vllm:num_requests_running{model_name="qwen"} 2.0
vllm:num_requests_waiting{model_name="gemma"} 3.0
vllm:num_requests_waiting_by_reason{model_name="gemma"} 99.0
vllm:gpu_cache_usage_perc{model_name="gemma"} 0.25
`;
const SGLANG = `sglang:num_running_reqs{model_name="q"} 5.0
sglang:num_queue_reqs{model_name="q"} 1.0
sglang:token_usage{model_name="q"} 0.5
`;
const TEN_TIMES_AS_FAST =
  'const set = setTimeout; globalThis.setTimeout = (end, ms, ...more) => set(end, ms / 10, ...more);';

function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

describe('gateway-agent', () => {
  const suite = usePlatform({ env: WITH_SECRET });
  const scratch = { path: mkdtempSync(join(tmpdir(), 'gateway-nodes-')) };
  let admin: { url: string; token: string };
  let agent = '';
  let secretFile = '';
  const closing: (() => unknown)[] = [];

  beforeAll(async () => {
    admin = { url: suite.url, token: (await signUpAdmin(suite)).token };
    const served = await call(suite.url, 'GET', '/gateway-agent.mjs');
    expect(served.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    // In a folder of its own: it needs nothing beside it.
    agent = join(scratch.path, 'gateway-agent.mjs');
    writeFileSync(agent, served.text);
    secretFile = join(scratch.path, 'secret');
    writeFileSync(secretFile, `${NODE_SECRET}\n`);
    mkdirSync(join(scratch.path, 'bin'));
    writeFileSync(join(scratch.path, 'bin', 'nvidia-smi'), NVIDIA_SMI);
    chmodSync(join(scratch.path, 'bin', 'nvidia-smi'), 0o755);
  });
  afterAll(() => {
    for (const close of closing) close();
    rmSync(scratch.path, { recursive: true });
  });

  /** Runs it until it ends or is stopped; `before`: what is run before it in its process. */
  const run = (args: string[], path = '/nowhere', before = '') => {
    const all = ['--import', `data:text/javascript,${encodeURIComponent(before)}`, agent, ...args];
    const child = spawn(process.execPath, all, { env: { PATH: path }, cwd: scratch.path });
    closing.push(() => child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece) => (output += String(piece)));
    return { child, output: () => output, ended: once(child, 'close').then(([code]) => code as number) };
  };
  const argsOf = (id: string, serves = 'http://127.0.0.1:1', url = suite.url) => [
    '--url',
    url,
    '--node',
    id,
    '--secret-file',
    secretFile,
    '--serves',
    serves,
  ];
  const serve = async (answer: (request: IncomingMessage) => [number, string]) => {
    const server = createServer((request, response) => {
      const [status, body] = answer(request);
      response.writeHead(status).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const get = async (id: string) =>
    (await call<NodeOutput>(suite.url, 'GET', `/api/admin/gpu-nodes/${id}`, { token: admin.token })).body;

  test.each([
    [
      'vLLM',
      VLLM,
      { requests_running: { value: 9 }, requests_waiting: { value: 3 }, kv_cache_usage: { value: 0.25 } },
    ],
    [
      'SGLang',
      SGLANG,
      { requests_running: { value: 5 }, requests_waiting: { value: 1 }, kv_cache_usage: { value: 0.5 } },
    ],
  ])('reports the metrics of %s and nvidia-smi', async (_server, metrics, expected) => {
    const node = await serve(({ url }) => [
      200,
      url === '/metrics' ? metrics : JSON.stringify({ data: [{ id: 'gemma' }, { id: 'qwen' }] }),
    ]);
    const { id } = await register(admin);
    const { ended, output } = run([...argsOf(id, node), '--once'], `${scratch.path}/bin:/bin:/usr/bin`);
    expect([await ended, output()]).toEqual([0, expect.stringContaining('the gateway hears this node')]);
    expect(await get(id)).toMatchObject({
      health_status: 'healthy',
      readings: {
        ...expected,
        loaded_models: { value: ['gemma', 'qwen'] },
        gpu_utilization: { value: 50 },
        memory_used_gb: { value: 31.46 },
      },
    });
  });

  test.each([
    ['use of divided GPUs', '[N/A], 20000', { gpu_utilization: null, memory_used_gb: { value: 20.97 } }],
    ['memory shared with the machine', '40, [N/A]', { gpu_utilization: { value: 40 }, memory_used_gb: null }],
  ])("reports the rest if nvidia-smi doesn't know %s", async (_what, line, expected) => {
    const folder = mkdtempSync(join(scratch.path, 'smi-'));
    writeFileSync(join(folder, 'nvidia-smi'), `#!/bin/sh\necho "${line}"\n`);
    chmodSync(join(folder, 'nvidia-smi'), 0o755);
    const { id } = await register(admin);
    expect(await run([...argsOf(id), '--once'], `${folder}:/bin:/usr/bin`).ended).toBe(0);
    expect((await get(id)).readings).toMatchObject(expected);
  });

  test("sends its key to a model server that requires one, and names what it couldn't read", async () => {
    const wanted = 'Bearer key-of-the-node';
    const node = await serve(({ url, headers }) => {
      if (url === '/metrics') return [200, VLLM];
      return headers.authorization === wanted ? [200, '{"data":[{"id":"gemma"}]}'] : [401, '{}'];
    });
    const { id } = await register(admin);
    const without = run([...argsOf(id, node), '--once']);
    expect(await without.ended).toBe(0);
    expect(without.output()).toMatch(
      /can't read nvidia-smi .*, \S+\/v1\/models \(status 401, --serves-key-file/,
    );
    expect(without.output()).not.toContain('/metrics');
    expect((await get(id)).readings.loaded_models).toBeNull();

    const keyFile = join(scratch.path, 'key');
    writeFileSync(keyFile, 'key-of-the-node\n');
    const withKey = run([...argsOf(id, node), '--serves-key-file', keyFile, '--once']);
    expect(await withKey.ended).toBe(0);
    expect(withKey.output()).not.toContain('key-of-the-node');
    expect((await get(id)).readings.loaded_models).toMatchObject({ value: ['gemma'] });
  });

  test("reports a live node if the gateway doesn't accept its metrics", async () => {
    const name = 'x'.repeat(301);
    const node = await serve(() => [200, JSON.stringify({ data: [{ id: name }] })]);
    const { id } = await register(admin);
    const { ended, output } = run([...argsOf(id, node), '--once']);
    expect([await ended, output()]).toEqual([1, expect.stringContaining('status 422')]);
    const { health_status, readings } = await get(id);
    expect([health_status, readings.loaded_models]).toEqual(['healthy', null]);
  });

  test('starts no second nvidia-smi next to one that hangs', async () => {
    const hanging = join(scratch.path, 'hanging');
    const started = join(scratch.path, 'started');
    mkdirSync(hanging);
    writeFileSync(join(hanging, 'nvidia-smi'), `#!/bin/sh\necho $$ >> ${started}\nexec sleep 60\n`);
    chmodSync(join(hanging, 'nvidia-smi'), 0o755);
    let heard = 0;
    const gateway = await serve(() => {
      heard++;
      return [200, '{}'];
    });
    const args = [...argsOf('x', undefined, gateway), '--interval', '1'];
    const { child } = run(args, `${hanging}:/bin:/usr/bin`, TEN_TIMES_AS_FAST);
    const startedIds = () => readFileSync(started, 'utf8').split('\n').filter(Boolean);
    await until(() => heard >= 2 && existsSync(started) && startedIds().length > 0);
    // Before it could start another one in place of what is killed.
    child.kill('SIGKILL');
    const ids = startedIds();
    for (const id of ids) process.kill(Number(id), 'SIGKILL');
    expect(ids).toHaveLength(1);
  });

  test('stops next to an nvidia-smi that ignores signals', async () => {
    const stuck = join(scratch.path, 'stuck');
    const started = join(scratch.path, 'stuck-started');
    mkdirSync(stuck);
    // Its child keeps the output open, as does a process that hangs in the driver.
    const script = `#!/bin/sh\nsleep 600 &\necho $! $$ > ${started}\nexec sleep 600\n`;
    writeFileSync(join(stuck, 'nvidia-smi'), script);
    chmodSync(join(stuck, 'nvidia-smi'), 0o755);
    const gateway = await serve(() => [200, '{}']);
    const args = [...argsOf('x', undefined, gateway), '--interval', '3600'];
    const { child, output, ended } = run(args, `${stuck}:/bin:/usr/bin`, TEN_TIMES_AS_FAST);
    const ids = () => (existsSync(started) ? readFileSync(started, 'utf8').match(/\d+/g) : null);
    await until(() => output().includes('the gateway hears this node') && ids()?.length === 2);
    closing.push(...ids()!.map((id) => () => killHard(Number(id))));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(output()).toContain('no answer in time');
  });

  test('stops in the middle of a heartbeat', async () => {
    let asked = false;
    const silent = createServer(() => {
      asked = true;
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    closing.push(() => silent.close());
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const { child, ended } = run([...argsOf('x', undefined, url), '--interval', '3600']);
    await until(() => asked);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  test('names the Node.js version it needs', async () => {
    // As in 18.16, 19 and 20.2.
    const { ended, output } = run([...argsOf('x'), '--once'], undefined, 'delete AbortSignal.any;');
    expect([await ended, output()]).toEqual([78, expect.stringContaining('Node.js 18.17, 20.3 or newer')]);
  });

  test('reports a live node if nothing can be read', async () => {
    const { id } = await register(admin);
    expect(await run([...argsOf(id), '--once']).ended).toBe(0);
    const { health_status, readings } = await get(id);
    expect([health_status, Object.values(readings).filter(Boolean)]).toEqual(['healthy', []]);
  });

  test.each([
    ['a wrong secret', 401, 'the secret is not GPU_HEARTBEAT_SECRET'],
    ['an unknown node', 404, 'no node with this ID'],
    ['a gateway that has no secret', 503, 'no GPU_HEARTBEAT_SECRET'],
  ])('names %s', async (_what, status, words) => {
    const gateway = await serve(() => [status, '{}']);
    const { ended, output } = run([...argsOf('x', undefined, gateway), '--once']);
    expect([await ended, output()]).toEqual([1, expect.stringContaining(words)]);
    expect(output()).not.toContain(NODE_SECRET);
  });

  test('reads its file again when the gateway refuses the secret', async () => {
    const given: (string | undefined)[] = [];
    const rotated = join(scratch.path, 'rotated');
    writeFileSync(rotated, 'the old one\n');
    const gateway = await serve(({ headers }) => {
      given.push(headers.authorization);
      if (headers.authorization === 'Bearer the new one') return [200, '{}'];
      writeFileSync(rotated, 'the new one\n');
      return [401, '{}'];
    });
    const args = [
      '--url',
      gateway,
      '--node',
      'x',
      '--secret-file',
      rotated,
      '--serves',
      'http://127.0.0.1:1',
    ];
    const { ended, output } = run([...args, '--once']);
    expect([await ended, output()]).toEqual([0, expect.stringContaining('the gateway hears this node')]);
    expect(given).toEqual(['Bearer the old one', 'Bearer the new one']);
  });

  test('continues until it is stopped, and retries failures before the next heartbeat is due', async () => {
    let heard = 0;
    const gateway = await serve(() => {
      heard++;
      return heard <= 2 ? [502, ''] : [200, '{}'];
    });
    const { child, output, ended } = run([...argsOf('x', undefined, gateway), '--interval', '3600']);
    await until(() => output().includes('the gateway hears this node'));
    expect(heard).toBe(3);
    expect(output().match(/status 502/g)).toHaveLength(1);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  test.each([
    [['--node', 'x'], '--url must be'],
    [['--url', 'http://x'], '--node must be'],
    [['--url', 'http://x', '--node', 'x'], '--secret-file must'],
    [['--url', 'localhost:8080'], '--url must be'],
    [
      ['--url', 'http://x', '--node', 'x', '--secret-file', 'x', '--serves', 'localhost:8000'],
      '--serves must',
    ],
    [['--url', 'http://x', '--node', 'x', '--secret-file', 'x', '--interval', '2592000'], '--interval must'],
    [['--colour'], 'colour'],
  ])('explains what is wrong with %j', async (args, words) => {
    const { ended, output } = run(args);
    expect([await ended, output()]).toEqual([78, expect.stringContaining(words)]);
    expect(output()).toContain('Usage:');
  });
});

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ofStream, StreamReader } from '../../src/cli/bench/one-call.js';
import type { RunResult } from '../../src/cli/bench/run.js';
import { parseSlo } from '../../src/cli/bench/slo.js';
import { percentile, seeded } from '../../src/cli/bench/statistics.js';
import { systemClock } from '../../src/lib/clock.js';
import { type Simulator, startSimulator } from '../../src/proxy/simulator/server.js';
import type { BenchmarkOutput } from '../../src/services/nodes/nodes.outputs.js';
import { signUpAdmin } from '../support/admin.js';
import { call } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import {
  chunkEvent,
  DONE_EVENT,
  delta,
  startScriptedUpstream,
  stream,
  usageEvent,
} from '../support/scripted-upstream.js';
import { NODE_SECRET, register, WITH_SECRET } from './support.js';

const PROGRAM = resolve('dist/cli/gateway-bench.js');

describe('gateway-bench', () => {
  const suite = usePlatform({ env: WITH_SECRET });
  const scratch = { path: mkdtempSync(join(tmpdir(), 'gateway-nodes-')) };
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ clock: systemClock, models: [] });
    writeFileSync(join(scratch.path, 'key'), 'sk-pr-test\n');
    writeFileSync(join(scratch.path, 'secret'), `${NODE_SECRET}\n`);
  });
  afterAll(async () => {
    await simulator.close();
    rmSync(scratch.path, { recursive: true });
  });

  const run = (url: string, ...args: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((done) => {
      const keyFile = join(scratch.path, 'key');
      const all = [PROGRAM, '--url', url, '--key-file', keyFile, '--model', 'gateway/fast', ...args];
      execFile(process.execPath, all, (error, out, err) =>
        done({ code: error ? Number(error.code) : 0, out, err }),
      );
    });
  const measure = async (...args: string[]) => {
    const origin = new URL(simulator.url).origin;
    const { code, out, err } = await run(origin, '--json', ...args);
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out) as RunResult & { sweep?: RunResult[] };
  };

  test('measures tokens, latency and errors of whole answers', async () => {
    const result = await measure(
      '--requests',
      '20',
      '--workers',
      '4',
      '--prompt',
      '[[sim ttft_ms=100 words=10]]',
    );
    expect(result).toMatchObject({ total_requests: 20, concurrency: 4, errors: 0 });
    expect(result.total_tokens).toBeGreaterThan(100);
    expect(result.p50_latency_ms).toBeGreaterThanOrEqual(99);
    expect(result.p95_latency_ms).toBeGreaterThanOrEqual(result.p50_latency_ms);
    expect(result.tokens_per_second).toBeCloseTo((result.total_tokens / result.duration_ms) * 1_000, 1);
    expect(result.ttft_p50_ms).toBeUndefined();
  });

  test('measures the first token and the pace of the others, never below the programmed one', async () => {
    const prompt = '[[sim ttft_ms=200 chunk_ms=20 words=15]]';
    const result = await measure(
      '--stream',
      '--requests',
      '64',
      '--workers',
      '32',
      '--warmup',
      '8',
      '--prompt',
      prompt,
    );
    // The simulator's timers may be late on a busy machine, never early; the first token is no gap.
    expect(result.ttft_p50_ms).toBeGreaterThanOrEqual(198);
    expect(result.ttft_p95_ms).toBeGreaterThanOrEqual(result.ttft_p50_ms!);
    expect(result.tpot_p50_ms).toBeGreaterThanOrEqual(18);
    expect(result.tpot_p50_ms).toBeLessThan(198);
    expect(result.itl_p50_ms).toBeLessThan(198);
  });

  test('finds the programmed pace exactly, however a stream is split into chunks', () => {
    const [ttftMs, itlMs, tokens] = [200, 20, 30];
    const random = seeded(5);
    for (let stream = 0; stream < 32; stream++) {
      const began = random() * 1_000;
      const due = (token: number) => began + ttftMs + token * itlMs;
      const reader = new StreamReader();
      // The role comes early and the usage late: neither is a token.
      reader.push(
        chunkEvent({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }),
        began + 5,
      );
      for (let token = 0; token < tokens; token++) {
        const event = delta('x');
        const cut = Math.floor(random() * (event.length - 2));
        reader.push(event.slice(0, cut), due(token) - random() * itlMs);
        reader.push(event.slice(cut), due(token));
      }
      reader.push(usageEvent(5, tokens) + DONE_EVENT, due(tokens));
      const measured = ofStream(reader, began, due(tokens));
      expect(measured).toMatchObject({ ok: true, tokens });
      expect(measured.ttftMs).toBeCloseTo(ttftMs, 6);
      expect(measured.tpotMs).toBeCloseTo(itlMs, 6);
      expect(measured.gapsMs).toHaveLength(tokens - 1);
      for (const gap of measured.gapsMs) expect(gap).toBeCloseTo(itlMs, 6);
    }
  });

  test('counts failures, and shows the first error', async () => {
    const result = await measure('--requests', '4', '--prompt', '[[sim words=5]]');
    expect(result.errors).toBe(0);
    const upstream = new URL(simulator.url).origin;
    const failed = await run(upstream, '--requests', '3', '--prompt', '[[sim status=503]]');
    expect(failed.code).toBe(1);
    expect(failed.out).toContain('3 failed');
    expect(failed.err).toContain('every request failed: status 503');
  });

  test('runs each concurrency of a sweep, and finds the highest that meets the objective', async () => {
    const prompt = '[[sim ttft_ms=30 words=3]]';
    const args = ['--requests', '8', '--prompt', prompt, '--sweep', '1,2', '--slo', 'latency=60s'];
    const result = await measure(...args);
    expect(result.sweep?.map(({ concurrency, met }) => [concurrency, met])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(result).toMatchObject({ concurrency: 2, slo: 'latency=60s' });
    expect(result.goodput).toBeCloseTo(8 / (result.duration_ms / 1_000), 1);
    const never = await measure(...args.slice(0, -1), 'latency=1ms');
    expect(never).toMatchObject({ concurrency: 1, goodput: 0, met: 0 });
  });

  test('makes the same requests for the same seed', async () => {
    const upstream = await startScriptedUpstream();
    const asked = async (seed: string) => {
      upstream.seen.length = 0;
      await run(upstream.url, '--requests', '3', '--workers', '1', '--seed', seed);
      return upstream.seen.map(({ body }) => body);
    };
    const first = await asked('7');
    expect(new Set(first).size).toBe(3);
    expect(await asked('7')).toEqual(first);
    expect(await asked('8')).not.toEqual(first);
    await upstream.close();
  });

  test('never repeats a request, neither after a warm-up nor in the next step of a sweep', async () => {
    const upstream = await startScriptedUpstream();
    await run(upstream.url, '--requests', '3', '--warmup', '2', '--sweep', '1,2');
    const bodies = upstream.seen.map(({ body }) => body);
    expect([bodies.length, new Set(bodies).size]).toEqual([10, 10]);
    await upstream.close();
  });

  test('leaves out unmeasured values', async () => {
    const upstream = await startScriptedUpstream();
    upstream.answer(stream([delta('x'), usageEvent(5, 1), DONE_EVENT]));
    const { code, out } = await run(upstream.url, '--requests', '3', '--stream', '--json');
    const result = JSON.parse(out) as RunResult;
    expect([code, result.errors, result.ttft_p50_ms]).toEqual([0, 0, expect.any(Number)]);
    const unmeasured = ['itl_p50_ms', 'itl_p95_ms', 'tpot_p50_ms'];
    expect(Object.keys(result).filter((name) => unmeasured.includes(name))).toEqual([]);
    const { out: lines } = await run(upstream.url, '--requests', '3', '--stream');
    expect(lines).toMatch(/^first token/m);
    expect(lines).not.toMatch(/^(between tokens|per token)|undefined/m);
    await upstream.close();
  });

  test.each(['{"choices":[', 'null'])(
    'counts a stream with the line %s as failed, and continues',
    async (line) => {
      const upstream = await startScriptedUpstream();
      upstream.answer((request, response) => {
        const broken = upstream.seen.length === 1;
        return stream([delta('x'), broken ? `data: ${line}\n\n` : '', usageEvent(5, 1), DONE_EVENT])(
          request,
          response,
        );
      });
      const { code, out } = await run(
        upstream.url,
        '--requests',
        '3',
        '--workers',
        '1',
        '--stream',
        '--json',
      );
      expect([code, JSON.parse(out)]).toMatchObject([
        0,
        { errors: 1, first_error: 'a line of the stream is not a chunk' },
      ]);
      await upstream.close();
    },
  );

  test('submits the result for a node', async () => {
    const admin = { url: suite.url, token: (await signUpAdmin(suite)).token };
    const { id } = await register(admin);
    const list = async () =>
      (
        await call<BenchmarkOutput[]>(suite.url, 'GET', `/api/admin/benchmarks?node_id=${id}`, {
          token: admin.token,
        })
      ).body;
    const args = ['--requests', '6', '--prompt', '[[sim words=5]]', '--node', id];
    const secret = ['--secret-file', join(scratch.path, 'secret')];
    // The platform has no /v1: every request fails, and nothing is submitted.
    expect((await run(suite.url, ...args, ...secret)).code).toBe(1);
    expect(await list()).toEqual([]);

    const front = createServer((request, response) => {
      const to = request.url!.startsWith('/v1') ? new URL(simulator.url).origin : suite.url;
      request.toArray().then(async (parts: Buffer[]) => {
        const { authorization = '' } = request.headers;
        const answer = await fetch(`${to}${request.url}`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: Buffer.concat(parts),
        });
        response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
      }, response.destroy);
    }).listen(0, '127.0.0.1');
    await once(front, 'listening');
    const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
    const { code, out } = await run(url, ...args, ...secret, '--sweep', '1,3');
    expect([code, out]).toEqual([0, expect.stringContaining('submitted')]);
    expect(await list()).toMatchObject([
      {
        model_public_name: 'gateway/fast',
        total_requests: 6,
        concurrency: 1,
        errors: 0,
        sweep: [{ concurrency: 1 }, { concurrency: 3 }],
      },
    ]);

    // Of a node that is gone the result is not stored, and not lost either.
    await call(suite.url, 'DELETE', `/api/admin/gpu-nodes/${id}`, { token: admin.token });
    const lost = await run(url, ...args, ...secret);
    expect([lost.code, lost.err]).toEqual([1, expect.stringContaining('There is no GPU node with this ID.')]);
    const submitted = JSON.parse(lost.out.trim().split('\n').at(-1)!);
    expect(submitted).toMatchObject({ node_id: id, model_public_name: 'gateway/fast', total_requests: 6 });
    front.closeAllConnections();
    front.close();
  });

  test.each([
    [['--requests', '0'], '--requests must be'],
    [['--url', 'localhost:8080'], '--url must be the address of the gateway, with http:// or https://'],
    [['--slo', 'speed=1ms'], 'must be like ttft=500ms'],
    [['--sweep', '1,x'], '--sweep must be'],
    [['--node', 'x'], '--secret-file must'],
    [['--node', 'x', '--secret-file', '/dev/null'], '--node must be the ID'],
    // Fewer would run at once than the result says.
    [['--requests', '4', '--workers', '64'], '--workers must not exceed --requests, which is 4'],
    [['--sweep', '1,16,256'], '--sweep must not exceed --requests, which is 100'],
    // The gateway would reject the result when all has been measured.
    [['--sweep', Array.from({ length: 65 }, () => '1').join()], '--sweep must have at most 64'],
    [['--requests', '200000', '--workers', '100001'], '--workers must be'],
    [['--requests', '100000001'], '--requests must be'],
  ])('explains what is wrong with %j', async (args, words) => {
    const { code, err } = await run('http://127.0.0.1:1', ...args);
    expect([code, err]).toEqual([78, expect.stringContaining(words)]);
  });
});

describe('the figures of gateway-bench', () => {
  test('percentiles are measured values', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([0.5, 0.95, 0.99, 1].map((share) => percentile(values, share))).toEqual([50, 95, 99, 100]);
    expect([percentile([7], 0.5), percentile([], 0.5)]).toEqual([7, 0]);
  });

  test('objectives are parsed with their units', () => {
    expect(parseSlo('ttft=500ms, latency=1.5s')).toEqual({
      text: 'ttft=500ms, latency=1.5s',
      limits: { ttft: 500, latency: 1_500 },
    });
    expect(parseSlo('ttft=500')).toMatch(/^must be/);
  });
});

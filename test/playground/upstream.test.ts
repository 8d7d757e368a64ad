import { advisoryLocks } from '../../src/db/locks.js';
import { createRegistry } from '../../src/lib/metrics.js';
import { call, signUp } from '../support/api.js';
import { isBlocking } from '../support/blocked.js';
import { usePlatform } from '../support/platform-suite.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { ask, byModel, FAST, QWEN } from './support.js';

const THOUGHT_MS = 300;
const VIRTUAL_KEY = 'sk-virtual-canary-1234567890';

describe('the upstream calls of a run', () => {
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    upstream = await startScriptedUpstream();
  });
  afterAll(() => upstream.close());
  const registry = createRegistry('test');
  const suite = usePlatform(() => ({
    env: { UPSTREAM_URL: upstream.url },
    registry,
    virtualKeys: { generate: async () => VIRTUAL_KEY, remove: async () => undefined },
  }));
  let token = '';
  beforeEach(async () => {
    if (token !== '') return;
    ({ token } = await signUp(suite.url));
    // A plan that has both models.
    await suite.db.pool.query(`update accounts set plan_id = 'starter' where status = 'active'`);
  });

  const chunk = (delta: unknown, more: Record<string, unknown> = {}) =>
    `data: ${JSON.stringify({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: FAST,
      choices: [{ index: 0, delta, finish_reason: null }],
      ...more,
    })}\n\n`;
  const usage = (input: number, output: number) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: FAST, choices: [], usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } })}\n\n`;
  const modelOf = (body: string): string => (JSON.parse(body) as { model: string }).model;
  const streams = (...events: string[]) =>
    upstream.answer((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`${events.join('')}data: [DONE]\n\n`);
    });

  test('contain only the prompt, with the virtual key of the account and the parameters', async () => {
    upstream.seen.length = 0;
    streams(chunk({ content: 'Yes' }), usage(3, 1));
    await ask(suite.url, token, [FAST], 'Is it?', {
      system_prompt: 'Be brief.',
      parameters: { temperature: 0, max_tokens: 7 },
    });
    expect(upstream.seen).toHaveLength(1);
    const [{ headers, body, url }] = upstream.seen as [(typeof upstream.seen)[number]];
    expect([url, headers.authorization]).toEqual(['/v1/chat/completions', `Bearer ${VIRTUAL_KEY}`]);
    expect(JSON.parse(body)).toEqual({
      model: FAST,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Is it?' },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 7,
      temperature: 0,
    });
  });

  test.each<[string, (own: Awaited<ReturnType<typeof signUp>>) => Promise<unknown>]>([
    ['their session ended', (own) => call(suite.url, 'POST', '/api/auth/logout', { token: own.token })],
    [
      'their account was disabled',
      (own) => suite.db.pool.query(`update accounts set status = 'disabled' where id = $1`, [own.user.id]),
    ],
  ])("aren't made for an account that waited until %s", async (_what, end) => {
    upstream.seen.length = 0;
    streams(chunk({ content: 'Yes' }), usage(3, 1));
    const own = await signUp(suite.url);
    const holder = await suite.db.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select pg_advisory_xact_lock($1, hashtext($2))', [
        advisoryLocks.playgroundStarts,
        own.user.id,
      ]);
      const asked = ask(suite.url, own.token, [FAST], 'Is it?');
      await until(() => isBlocking(suite.db.pool, holder), { what: 'the start to wait' });
      await end(own);
      await holder.query('commit');
      expect((await asked).status).toBe(401);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    expect(upstream.seen).toEqual([]);
  });

  test('a run whose end was committed while the connection broke is reported with its outcome', async () => {
    const { em } = suite.db.orm;
    const fork = em.fork.bind(em);
    let ends = 0;
    const breaking: typeof em.fork = (options) => {
      const forked = fork(options);
      const transactional = forked.transactional.bind(forked);
      const breakOnce = async (...given: Parameters<typeof transactional>) => {
        const result = await transactional(...given);
        ends++;
        if (ends === 1) throw new Error('Connection terminated unexpectedly');
        return result;
      };
      return Object.assign(forked, { transactional: breakOnce });
    };
    upstream.answer((_request, response) => {
      // The next transaction is that of the end.
      em.fork = breaking;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chunk({ content: 'Yes' })}${usage(3, 1)}data: [DONE]\n\n`);
    });
    try {
      const { body } = await ask(suite.url, token, [FAST], 'Is it?');
      expect([ends, body.runs[0]]).toEqual([
        2,
        expect.objectContaining({ status: 'success', response_content: 'Yes', error_code: null }),
      ]);
      const read = await call(suite.url, 'GET', `/api/playground/${body.id}`, { token });
      expect(read.body).toEqual(body);
    } finally {
      em.fork = fork;
    }
  });

  test('one model fails while the other answers: two runs of one session, each with its own outcome', async () => {
    upstream.answer((request, response) => {
      if (modelOf(request.body) === QWEN) {
        response.writeHead(500, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'node 10.0.0.5 is out of memory' } }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chunk({ content: 'Fine' })}${usage(3, 1)}data: [DONE]\n\n`);
    });
    const { status, body, text } = await ask(suite.url, token, [QWEN, FAST], 'Is it?');
    const { [FAST]: fast, [QWEN]: qwen } = byModel(body);
    expect([status, fast!.status, fast!.response_content]).toEqual([201, 'success', 'Fine']);
    expect(qwen).toMatchObject({ status: 'error', error_code: 'upstream_error', response_content: null });
    expect(text).not.toMatch(/10\.0\.0\.5|memory/);
  });

  test("the model that served is reported, and its price is the run's list price", async () => {
    streams(chunk({ content: 'From another' }, { model: 'gateway/qwen-pro' }), usage(1_000_000, 10));
    const { body } = await ask(suite.url, token, [FAST], 'Who?');
    expect(body.runs[0]).toMatchObject({
      model_public_name: FAST,
      served_model_public_name: 'gateway/qwen-pro',
      cost_usd: '0.000000',
      list_cost_usd: '0.500015',
    });
  });

  test("parts that aren't text of an answer are left out, in any form", async () => {
    streams(
      chunk({ role: 'assistant' }),
      chunk({ content: 'a' }),
      chunk({ content: null, reasoning_content: 'hidden' }),
      chunk({ content: ' b' }),
      usage(2, 3),
    );
    const { body, text } = await ask(suite.url, token, [FAST], 'Odd?');
    expect([body.runs[0]!.status, body.runs[0]!.response_content]).toEqual(['success', 'a b']);
    expect(text).not.toContain('hidden');
  });

  test('the first token may be part of the reasoning, as on the receipt of a call', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: null, reasoning_content: 'Let me think.' }));
      setTimeout(() => {
        response.end(`${chunk({ content: 'Yes' })}${usage(3, 9)}data: [DONE]\n\n`);
      }, THOUGHT_MS);
    });
    const { body } = await ask(suite.url, token, [FAST], 'Is it?');
    const { status, response_content: text, ttft_ms: first, latency_ms: whole } = body.runs[0]!;
    expect([status, text]).toEqual(['success', 'Yes']);
    expect(first).toBeGreaterThanOrEqual(0);
    expect(whole! - first!).toBeGreaterThan(THOUGHT_MS / 2);
  });

  test.each([
    ['no JSON', 'data: {"a": \n\n', 'upstream_error'],
    [
      'an error of the node',
      'data: {"error":{"message":"at http://10.0.0.5","code":500}}\n\n',
      'upstream_error',
    ],
    ['nothing but its end', '', 'upstream_error'],
  ])('a stream of %s ends the run', async (_what, events, expected) => {
    streams(events);
    const { body, text } = await ask(suite.url, token, [FAST], 'Well?');
    expect(body.runs[0]!.error_code ?? body.runs[0]!.status).toBe(expected);
    expect(text).not.toContain('10.0.0.5');
  });

  test('a model that never stops is cut off', async () => {
    upstream.seen.length = 0;
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const piece = chunk({ content: 'x'.repeat(20_000) });
      const more = (): void => {
        if (response.writable && !response.destroyed) response.write(piece, () => setImmediate(more));
      };
      more();
    });
    const { body } = await ask(suite.url, token, [FAST], 'Go on');
    expect(body.runs[0]).toMatchObject({
      status: 'error',
      error_message: 'The model sent an endless answer.',
    });
    expect(body.runs[0]!.response_content!.length).toBeLessThanOrEqual(200_000);
    await until(() => upstream.seen[0]!.aborted);
  });

  test('a request whose client leaves keeps its runs in the session', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.answer(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await released;
      response.end(`${chunk({ content: 'Late' })}${usage(1, 1)}data: [DONE]\n\n`);
    });
    const before = upstream.begun();
    const leaving = new AbortController();
    const asked = fetch(`${suite.url}/api/playground`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'I leave', models: [FAST] }),
    }).catch(() => 'left');
    await until(() => upstream.begun() > before);
    leaving.abort();
    expect(await asked).toBe('left');
    release();
    await until(async () => {
      const { rows } = await suite.db.pool.query<{ status: string }>(
        'select status from playground_runs order by id desc limit 1',
      );
      return rows[0]?.status === 'success';
    });
  });

  test('outcomes of runs are counted', async () => {
    const { values } = await registry.getSingleMetric('playground_runs_total')!.get();
    const counted = Object.fromEntries(values.map(({ labels, value }) => [labels.status, value]));
    expect(counted.success).toBeGreaterThanOrEqual(4);
    expect(counted.error).toBeGreaterThanOrEqual(3);
  });
});

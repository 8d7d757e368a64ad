import { connect } from 'node:net';
import { createTestKey, errorOf, postChat, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { raw } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { bodyBytesOf } from '../support/upload.js';

const MIB = 2 ** 20;
const USAGE = { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 };
/** What makes an answer large beside its text. */
const logprobs = (bytes: number) => ({
  content: Array.from({ length: bytes / 40 }, () => ({ token: 'a "token"', logprob: -1.25 })),
});
const choice = (message: unknown, bytes = MIB / 2) => ({
  index: 0,
  message,
  logprobs: logprobs(bytes),
  finish_reason: 'stop',
});
const chatAnswer = (fields: Record<string, unknown>): string =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gateway/fast',
    choices: [choice({ role: 'assistant', content: 'Hello.' })],
    usage: USAGE,
    ...fields,
  });

describe('a large whole answer', () => {
  const suite = useEdge();
  const ask = async (fields: Record<string, unknown> = {}) => {
    const { key, accountId } = await createTestKey(suite.db);
    const body = JSON.stringify({ model: 'gateway/fast', messages: [], ...fields });
    const response = await postChat(suite.edge.url, key, body);
    const charged = async () => {
      await suite.edge.settled();
      const [row] = await usageOf(suite.db, accountId);
      return row!;
    };
    return { response, charged };
  };

  test('arrives byte for byte, is charged by its usage, and stays in memory only until it is read', async () => {
    const answer = chatAnswer({});
    suite.upstream.answer(raw(200, answer));
    const { response, charged } = await ask();
    expect(await response.text()).toBe(answer);
    expect(response.headers.get('content-length')).toBe(String(answer.length));
    expect(await charged()).toMatchObject({
      status: 'success',
      input_tokens: 12,
      output_tokens: 34,
      estimated: false,
    });
    await until(async () => (await bodyBytesOf(suite.edge)) === 0);
  });

  test('keeps only its known members, under the public name', async () => {
    const choices = [choice({ role: 'assistant', content: 'Hello.' })];
    suite.upstream.answer(
      raw(200, chatAnswer({ provider: 'secret', model: 'node-7', choices, __verbose: { prompt: 'p' } })),
    );
    const { response } = await ask();
    expect(await response.json()).toEqual(JSON.parse(chatAnswer({ choices })));
  });

  test.each([
    [{ content: 'x'.repeat(4_000) }, 1_000],
    [{ content: 'é"\n'.repeat(1_000), refusal: 'no'.repeat(100) }, 1_050],
    [
      {
        content: null,
        reasoning: 'y'.repeat(400),
        tool_calls: [{ id: 'z', function: { arguments: 'a'.repeat(400) } }],
      },
      200,
    ],
    [null, 0],
  ])('that reports no usage is charged by its texts', async (message, tokens) => {
    suite.upstream.answer(raw(200, chatAnswer({ choices: [null, choice(message)], usage: undefined })));
    const { response, charged } = await ask();
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    expect(await charged()).toMatchObject({ output_tokens: tokens, estimated: true });
  });

  test.each([
    ['is cut', chatAnswer({}).slice(0, -20)],
    ['has no choices', chatAnswer({ choices: 'x'.repeat(MIB) })],
    ['has an error beside its choices', chatAnswer({ error: { message: 'secret' } })],
    ['is no JSON', 'x'.repeat(MIB)],
  ])('that %s is a failure of the upstream, and free', async (_what, answer) => {
    suite.upstream.answer(raw(200, answer));
    const { response, charged } = await ask();
    expect(response.status).toBeGreaterThanOrEqual(500);
    expect(JSON.stringify(await errorOf(response))).not.toContain('secret');
    expect(await charged()).toMatchObject({ status: 'error', cost: '0.000000000000' });
    await until(async () => (await bodyBytesOf(suite.edge)) === 0);
  });

  test.each([
    ['with usage', USAGE],
    ['without', undefined],
  ])('with one failed choice is free, %s', async (_what, usage) => {
    const failed = { ...choice(null), error: { code: 429, message: 'secret' } };
    const good = choice({ role: 'assistant', content: 'an "error" of mine' });
    suite.upstream.answer(raw(200, chatAnswer({ choices: [good, failed], usage })));
    const { response, charged } = await ask();
    expect(response.status).toBe(503);
    expect(JSON.stringify(await errorOf(response))).not.toContain('secret');
    expect(await charged()).toMatchObject({ status: 'error', cost: '0.000000000000' });
    suite.upstream.answer(raw(200, chatAnswer({ choices: [good], usage })));
    expect((await ask()).response.status).toBe(200);
  });

  test("shows its token counts but not the operator's cost", async () => {
    suite.upstream.answer(raw(200, chatAnswer({ usage: { ...USAGE, cost: 0.5 } })));
    const { response } = await ask();
    expect(((await response.json()) as { usage: unknown }).usage).toEqual(USAGE);
  });

  test('is charged if its client leaves after the edge has received all of it', async () => {
    const answer = chatAnswer({ choices: [choice({ role: 'assistant', content: 'Hello.' }, 16 * MIB)] });
    suite.upstream.answer(raw(200, answer));
    const { key, accountId } = await createTestKey(suite.db);
    const { hostname, port } = new URL(suite.edge.url);
    const socket = connect(Number(port), hostname);
    const body = '{"model":"gateway/fast","messages":[]}';
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: edge\r\nauthorization: Bearer ${key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until(async () => (await bodyBytesOf(suite.edge)) >= answer.length, { intervalMs: 1 });
    socket.destroy();
    await suite.edge.settled();
    await until(async () => (await usageOf(suite.db, accountId)).length === 1);
    const [row] = await usageOf(suite.db, accountId);
    expect(row).toMatchObject({ status: 'success', output_tokens: 34, client_aborted: false });
    await until(async () => (await bodyBytesOf(suite.edge)) === 0);
  });
});

describe('a large embeddings answer', () => {
  const suite = useEdge();
  const VECTORS = Array.from({ length: 400 }, (_, i) =>
    Float32Array.from({ length: 256 }, (_value, j) => Math.sin(i * 256 + j)),
  );
  const forms = {
    float: VECTORS.map((vector) => [...vector]),
    base64: VECTORS.map((vector) => Buffer.from(vector.buffer).toString('base64')),
  };
  const answerOf = (form: 'float' | 'base64') =>
    JSON.stringify({
      object: 'list',
      data: forms[form].map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: 'gateway/embed',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });

  test.each([
    ['float', 'float'],
    ['float', 'base64'],
    ['base64', 'float'],
    ['base64', 'base64'],
  ] as const)('in the form %s comes as %s where that is asked for', async (have, wanted) => {
    const { key, accountId } = await createTestKey(suite.db);
    suite.upstream.answer(raw(200, answerOf(have)));
    const response = await fetch(`${suite.edge.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'gateway/embed',
        input: VECTORS.map(() => 'a text'),
        encoding_format: wanted,
      }),
    });
    const body = await response.text();
    expect(response.headers.get('content-length')).toBe(String(body.length));
    expect(body === answerOf(wanted)).toBe(true);
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([
      expect.objectContaining({ status: 'success', input_tokens: 7, output_tokens: 0, estimated: false }),
    ]);
    await until(async () => (await bodyBytesOf(suite.edge)) === 0);
  });
});

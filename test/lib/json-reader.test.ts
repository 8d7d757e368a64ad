import { setImmediate as nextTurn } from 'node:timers/promises';
import { READ_RESPONSES_REQUEST } from '../../src/gateway/responses/read-request.js';
import { TRANSLATE_ANSWER } from '../../src/gateway/responses/response-state.js';
import { READ_CHAT } from '../../src/gateway/widget/read-chat.js';
import { READ_WIDGET_ANSWER } from '../../src/gateway/widget/read-widget-answer.js';
import { READ_ANSWER } from '../../src/inference/relay/read-answer.js';
import { READ_REQUEST } from '../../src/inference/request/read-request.js';
import { AT_ONCE_BYTES, type JsonJob, JsonReader } from '../../src/lib/json-reader.js';
import { WorkerThread } from '../../src/lib/worker-thread.js';

interface Text {
  body: Buffer;
}
const LENGTH: JsonJob<Text, { length: number }> = {
  name: 'length',
  run: ({ body }) => ({ length: body.length }),
};
const text = (bytes: number): Text => ({ body: Buffer.alloc(bytes, 'x') });

describe('a JSON reader', () => {
  const sent: string[] = [];
  const reader = () =>
    new JsonReader({
      close: async () => undefined,
      run: async (owner: string, name: string) => {
        sent.push(`${owner} ${name}`);
        return { length: -1 } as never;
      },
    });
  beforeEach(() => {
    sent.length = 0;
  });

  test('reads up to 256 KiB at once, and larger texts in the worker thread', async () => {
    const json = reader();
    expect(json.read('one', LENGTH, text(AT_ONCE_BYTES))).toEqual({ length: AT_ONCE_BYTES });
    await nextTurn();
    expect(await json.read('one', LENGTH, text(AT_ONCE_BYTES + 1))).toEqual({ length: -1 });
    expect(sent).toEqual(['one length']);
  });

  test('reads no more than 256 KiB in one turn of the event loop, from all callers together', async () => {
    const json = reader();
    for (let i = 0; i < 8; i++) await json.read(`${i}`, LENGTH, text(AT_ONCE_BYTES / 4));
    await nextTurn();
    expect(json.read('last', LENGTH, text(1))).toEqual({ length: 1 });
    expect(sent).toEqual(['4 length', '5 length', '6 length', '7 length']);
  });
});

describe('each job', () => {
  const id = '019aa000-0000-7000-8000-000000000000';
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hé' }, finish_reason: 'stop' }];
  const answer = { id: 'x', model: 'node', choices, usage: { prompt_tokens: 1, completion_tokens: 2 } };
  const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], unknown: 1 };
  const frame = { echo: '{"store":false}', requestId: id, createdAt: 1, model: 'm' };
  const read = {
    endpoint: 'chat',
    encoding: 'float',
    callId: id,
    model: 'm',
    models: new Set(['m']),
  } as const;
  const allowed = new Set<string>();
  const JOBS: [JsonJob<never, object>, () => object][] = [
    [READ_REQUEST, () => ({ body: json(request), allowed })],
    [READ_ANSWER, () => ({ ...read, body: json(answer), mostBytes: 1_000 })],
    [READ_RESPONSES_REQUEST, () => ({ body: json({ model: 'm', input: 'Hi', user: 'u' }), allowed })],
    [TRANSLATE_ANSWER, () => ({ ...frame, body: json(answer) })],
    [READ_CHAT, () => ({ body: json({ public_key: 'k', messages: [] }) })],
    [READ_WIDGET_ANSWER, () => ({ body: json(answer) })],
  ];
  const thread = new WorkerThread({ error: () => undefined } as never);
  afterAll(() => thread.close());

  test.each(JOBS.map(([job, input]) => [job.name, job, input] as const))(
    'returns the same result in the worker thread: %s',
    async (name, job, input) => {
      const expected = job.run(input() as never);
      expect(await thread.run('one', name, input())).toEqual(expected);
    },
  );
});

import { brokenOff, completion, EVENTS, nothing, stream, vectors, whole } from '../answers.js';
import { marker, type Play, type Script } from '../node.js';
import { chatBody, type MakeStep, type Scenario, type Step, scenariosOf, toV1 } from '../scenario.js';

/** Nodes that refuse, fail, hang or send nonsense; retries, cooldowns and fallbacks. */

const error = (message: string, fields: object = {}): object => ({
  error: { message, type: 'BadRequestError', param: null, code: null, ...fields },
});
const WORDS: readonly string[] = [
  'temperature must be below 2, got 3',
  'This model has a maximum context length of 8192 tokens. However, you requested 9000 tokens.',
  'maximum context length exceeded by 7 tokens',
  "Invalid schema for function 'get_weather': 'strng' is not valid under any of the given schemas",
  'of-the-node at http://10.1.2.3:8000/v1 (gpu-7.eu.acme.cloud, unix:/run/vllm.sock) failed',
  'Bearer sk-abcdefghijklmnop is wrong',
  'Die Anfrage ist zu lang: höchstens 8192 Token',
  'x'.repeat(3_000),
  'line\nbreak\u0007bell',
  '',
];

/** Responses that are failures, with their JSON. */
const FAILURES: readonly Play[] = [
  ...[
    400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 418, 422, 425, 429, 431, 500, 501, 502, 503, 504, 529,
  ].flatMap((status) => [
    whole(error(`status ${status}`), { status }),
    whole('no json', { status, headers: { 'retry-after': '7' } }),
  ]),
  ...[301, 302, 304, 204, 206, 999].map((status) =>
    whole('', { status, headers: { location: 'http://10.9.9.9/' } }),
  ),
  ...[400, 422].flatMap((status) => WORDS.map((words) => whole(error(words), { status }))),
  ...['context_length_exceeded', 'string_above_max_length', 'model_not_found', 'x', 400, null].map((code) =>
    whole(error('words', { code, param: 'messages' }), { status: 400 }),
  ),
  whole({ detail: 'n is too large' }, { status: 422 }),
  whole({ detail: [{ loc: ['body', 'messages'], msg: 'Field required' }] }, { status: 422 }),
  whole({ object: 'error', message: 'too long', code: 400 }, { status: 400 }),
  whole('<html>bad</html>', { status: 400, headers: { 'content-type': 'text/html' } }),
  ...[{}, [], 'text', 7, null, { hello: 'world' }, { choices: {} }, { choices: [] }, { choices: [{}] }].map(
    (body) => whole(JSON.stringify(body)),
  ),
  whole(''),
  whole('I am no JSON'),
  whole(JSON.stringify(completion()).slice(0, -9)),
  whole(`${JSON.stringify(completion())} trailing`),
  whole(`\ufeff${JSON.stringify(completion())}`),
  whole(JSON.stringify(completion()).replace('"model"', '"model":"twice","model"')),
  whole(completion(), { headers: { 'content-type': 'text/html' } }),
  whole(completion(), { headers: { 'content-encoding': 'gzip' } }),
  whole(Buffer.from([0xff, 0xfe, 0x7b, 0x22, 0x80, 0x22, 0x7d])),
  whole(error('an error with 200', { code: 500 })),
  whole(error('an error with 200', { code: 400 })),
  whole(completion({ error: { message: 'x', code: 429 } })),
  whole(
    completion({ choices: [{ index: 0, message: { content: 'x' }, error: { message: 'y', code: 500 } }] }),
  ),
  nothing('close'),
  nothing('reset'),
  brokenOff(whole(completion()), 30, 'close'),
  brokenOff(whole(completion()), 30, 'reset'),
  brokenOff(whole(completion()), 200, 'close'),
  brokenOff(whole(completion()), 200, 'reset'),
  brokenOff(whole(completion(), { framing: 'chunked' }), 300, 'close'),
  ...[
    'nonsense',
    'HTTP/1.1 abc\r\n\r\n',
    'HTTP/2 200 OK\r\ncontent-length: 2\r\n\r\n{}',
    'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x',
    'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\nx: y\n\n{}',
    'HTTP/1.1 200 OK\r\nbad header\r\ncontent-length: 2\r\n\r\n{}',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\ncontent-length: 2\r\n\r\n{}`,
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n',
    'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  ].map((text): Play => ({ pieces: [Buffer.from(text, 'latin1')], end: 'close' })),
];

const GOOD = { plain: whole(completion()), streamed: stream(EVENTS) } as const;

/** Each failure alone, and before a valid response, in groups of one and of two deployments. */
function failures(): MakeStep[] {
  return FAILURES.flatMap((play, i) =>
    (['plain', 'streamed'] as const).flatMap((kind) =>
      [
        [[play], 'gateway/fast'] as const,
        [[play, GOOD[kind]], ['gateway/fast', 'gateway/qwen-pro'][i % 2]!] as const,
      ].map(
        ([script, model]): MakeStep =>
          (id) => ({
            script: script as unknown as Script,
            sent: toV1(
              '/chat/completions',
              chatBody(`Hi ${marker(id)}`, { model, ...(kind === 'streamed' && { stream: true }) }),
            ),
          }),
      ),
    ),
  );
}

const embeddingFailures = (): MakeStep[] =>
  FAILURES.filter((_, i) => i % 3 === 0).map((play) => (id) => ({
    script: [play, whole(vectors(1))],
    sent: toV1('/embeddings', { model: 'gateway/embed', input: marker(id) }),
  }));

/** Nodes that are too slow, or can't be reached. */
function absent(): MakeStep[] {
  const models = ['gateway/deepseek-reason', 'gateway/deepseek-reason', 'gateway/deepseek-code'];
  return models.flatMap((model) =>
    [false, true].flatMap((isStream): MakeStep[] => [
      (id) => ({
        script: [nothing('silent')],
        sent: toV1('/chat/completions', chatBody(`Hi ${marker(id)}`, { model, stream: isStream })),
      }),
      (id) => ({
        script: [brokenOff(isStream ? stream(EVENTS) : whole(completion()), 350, 'silent')],
        sent: toV1('/chat/completions', chatBody(`Hi ${marker(id)}`, { model, stream: isStream })),
      }),
    ]),
  );
}

/** Deployments that cool down after the first failure: with a fallback, without one, and one by one in a pair. */
function parking(): Scenario[] {
  const call =
    (model: string, script: Script | undefined, isStream: boolean): MakeStep =>
    (id) => ({
      ...(script && { script }),
      sent: toV1('/chat/completions', chatBody(`Hi ${marker(id)}`, { model, stream: isStream })),
    });
  const dead: Script = [nothing('reset')];
  const scenario = (name: string, steps: MakeStep[]): Scenario => ({
    ...scenariosOf(name, steps)[0]!,
    where: 'parking',
  });
  const times = (n: number, make: (i: number) => MakeStep): MakeStep[] =>
    Array.from({ length: n }, (_, i) => make(i));
  return [
    scenario(
      'parked-fallback',
      times(12, (i) => call('gateway/deepseek-code', undefined, i % 2 === 0)),
    ),
    scenario(
      'parked-alone',
      times(12, (i) => call('gateway/deepseek-reason', undefined, i % 2 === 0)),
    ),
    scenario('parked-pair', [
      ...times(6, (i) => call('gateway/qwen-pro', dead, i % 2 === 0)),
      ...times(6, (i) => call('gateway/qwen-pro', undefined, i % 2 === 0)),
    ]),
    scenario('parked-embeddings', [
      ...times(
        4,
        () =>
          (id: string): Step => ({
            script: dead,
            sent: toV1('/embeddings', { model: 'gateway/embed', input: marker(id) }),
          }),
      ),
      ...times(4, () => (): Step => ({ sent: toV1('/embeddings', { model: 'gateway/embed', input: 'x' }) })),
    ]),
  ];
}

export const failingNodes = (): Scenario[] => [
  ...scenariosOf('failures', failures()),
  ...scenariosOf('embedding-failures', embeddingFailures()),
  ...absent().map((step, i) => scenariosOf(`absent-${i}`, [step])[0]!),
  ...parking(),
];

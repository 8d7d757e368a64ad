import type { Random } from '../../hostile/fuzz/random.js';
import { completion, DONE, delta, nothing, stream, usageEvent, whole } from '../answers.js';
import { marker, type Script } from '../node.js';
import { chatBody, type MakeStep, type Scenario, scenariosOf, toV1 } from '../scenario.js';
import { type Sent, textOf } from '../send.js';

/** How bytes arrive and leave: pipelined, broken, slow, large, and of clients that leave. */

const KEY = { authorization: 'Bearer {key}', 'content-type': 'application/json' };
const chat = (fields: object = {}, content = 'Hi'): Sent => ({
  method: 'POST',
  path: '/v1/chat/completions',
  headers: KEY,
  body: JSON.stringify(chatBody(content, { ...fields })),
});
const models: Sent = { method: 'GET', path: '/v1/models', headers: { authorization: 'Bearer {key}' } };

/** Several requests at once on one connection, and bytes that aren't quite HTTP. */
function connections(random: Random): MakeStep[] {
  const kinds: readonly (() => Sent)[] = [
    () => chat(),
    () => chat({ stream: true }),
    () => chat({ model: 'gateway/none' }),
    () => ({ ...chat(), body: 'no json' }),
    () => models,
    () => ({ ...models, path: '/v1/none' }),
  ];
  const pipelined = Array.from({ length: 60 }, (): MakeStep => {
    const requests = Array.from({ length: 2 + random.below(5) }, () => random.pick(kinds)());
    return () => ({ pipelined: requests });
  });
  const whole = textOf(chat());
  const breaks: readonly ((text: string) => string)[] = [
    (text) => text.replace('HTTP/1.1', 'HTTP/1.0'),
    (text) => text.replace('HTTP/1.1', 'HTTP/3'),
    (text) => text.replace('POST', 'po st'),
    (text) => text.replace('Host: x\r\n', ''),
    (text) => text.replace('Host: x', 'Host: x\r\nHost: y'),
    (text) => text.replaceAll('\r\n', '\n'),
    (text) => text.replace(/Content-Length: \d+/, 'Content-Length: x'),
    (text) => text.replace(/(Content-Length: \d+)/, '$1\r\n$1'),
    (text) => text.replace(/Content-Length: (\d+)/, 'Content-Length: $1\r\nTransfer-Encoding: chunked'),
    (text) => text.replace(/Content-Length: \d+/, 'Transfer-Encoding: gzip'),
    (text) =>
      text.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked').replace('\r\n\r\n', '\r\n\r\nzz\r\n'),
    (text) => text.slice(0, -5),
    (text) => text.slice(0, 60),
    (text) => text.replace('content-type', 'bad name'),
    (text) => text.replace('content-type', 'x: \u0001\r\ncontent-type'),
    () => 'nonsense\r\n\r\n',
    () => '\r\n\r\n',
  ];
  return [
    ...pipelined,
    ...breaks.map(
      (change): MakeStep =>
        () => ({ bytes: change(whole) }),
    ),
  ];
}

/** Clients that send slowly, and clients that leave. */
function pace(): MakeStep[] {
  const held = (events: readonly string[]): Script => [stream(events, { end: 'silent', framing: 'close' })];
  const leaving =
    (script: Script, fields: object, leave: NonNullable<Sent['leave']>): MakeStep =>
    (id) => ({
      script,
      sent: { ...chat(fields, `Hi ${marker(id)}`), leave },
    });
  const text = delta('Hello.');
  return [
    ...[7, 25, 60].flatMap((slowBytes): MakeStep[] => [
      () => ({ sent: { ...chat(), slowBytes } }),
      () => ({ sent: { ...chat({ stream: true }), slowBytes } }),
    ]),
    ...[0, 1, 2, 3].map((n) =>
      leaving(held([...Array.from({ length: n }, () => text)]), { stream: true }, { ms: 2_000 }),
    ),
    leaving(held([text, usageEvent()]), { stream: true }, { ms: 2_000 }),
    leaving(
      held([text, delta({}, 0, 'stop')]),
      { stream: true, stream_options: { include_usage: true } },
      { ms: 2_000 },
    ),
    leaving(held([text]), { stream: true, model: 'gateway/qwen-pro' }, { bytes: 10 }),
    leaving([nothing('silent')], {}, { ms: 2_000 }),
    leaving([nothing('silent')], { stream: true }, { ms: 2_000 }),
  ];
}

const MIB = 2 ** 20;

/** Bodies and answers of up to 10 MiB. */
function large(): MakeStep[] {
  const image = (bytes: number): unknown => [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } },
  ];
  const sized =
    (bytes: number): MakeStep =>
    () => ({ sent: toV1('/chat/completions', chatBody(image(bytes), { model: 'gateway/qwen-pro' })) });
  const answered =
    (script: (text: string) => Script, bytes: number, fields: object = {}): MakeStep =>
    (id) => ({
      script: script('x'.repeat(bytes)),
      sent: toV1('/chat/completions', chatBody(`Hi ${marker(id)}`, { model: 'gateway/qwen-pro', ...fields })),
    });
  const answer = (content: string): Script => [
    whole(
      completion({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] }),
    ),
  ];
  const events = (content: string): Script => [
    stream([delta(content), delta({}, 0, 'stop'), usageEvent(), DONE]),
  ];
  const spelled: MakeStep = () => ({ sent: toV1('/chat/completions', chatBody('🔑 wort '.repeat(40_000))) });
  return [
    ...[255 * 1024, 257 * 1024, 3 * MIB, 10 * MIB - 400, 10 * MIB, 11 * MIB].map(sized),
    spelled,
    ...[255 * 1024, 257 * 1024, 3 * MIB, 10 * MIB - 1_000, 17 * MIB].map((bytes) => answered(answer, bytes)),
    ...[200 * 1024, 2 * MIB, 9 * MIB].map((bytes) => answered(events, bytes, { stream: true })),
    () => ({ sent: toV1('/chat/completions', `{"model":"gateway/fast","x":"${'y'.repeat(2 * MIB)}`) }),
    () => ({ sent: toV1('/chat/completions', `${JSON.stringify(chatBody('Hi'))}${' '.repeat(2 * MIB)}`) }),
    () => ({
      sent: toV1('/embeddings', {
        model: 'gateway/embed',
        input: Array.from({ length: 2_048 }, (_, i) => `text ${i} ${'x'.repeat(50)}`),
      }),
    }),
  ];
}

export const connectionsOf = (random: Random): Scenario[] => [
  ...scenariosOf('connections', connections(random), { perAccount: 20 }),
  ...scenariosOf('pace', pace(), { perAccount: 5 }),
  ...scenariosOf('large', large(), { perAccount: 4 }),
];

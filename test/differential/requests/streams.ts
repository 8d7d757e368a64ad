import type { Random } from '../../hostile/fuzz/random.js';
import {
  brokenOff,
  bytesOf,
  completion,
  DONE,
  delta,
  EVENTS,
  event,
  type Framing,
  nothing,
  stream,
  USAGE,
  usageEvent,
  whole,
} from '../answers.js';
import { marker, type Play, type Script } from '../node.js';
import { chatBody, type MakeStep, type Scenario, scenariosOf, toV1 } from '../scenario.js';
import { someCuts, someMembers } from './plain.js';

/** Streams: cut anywhere, in every form, complete and incomplete. */

const streamed =
  (script: Script, fields: Record<string, unknown> = {}): MakeStep =>
  (id) => ({
    script,
    sent: toV1('/chat/completions', chatBody(`Hi ${marker(id)}`, { stream: true, ...fields })),
  });
const ASKS_USAGE = { stream_options: { include_usage: true } };
const asksUsage = (i: number): Record<string, unknown> => (i % 2 === 0 ? ASKS_USAGE : {});

/** One cut between any two bytes of a stream, and cuts between all bytes of some. */
function cutEverywhere(): MakeStep[] {
  const chunked = Buffer.concat(stream(EVENTS).pieces).length;
  const steps = Array.from({ length: chunked - 1 }, (_, i) =>
    streamed([stream(EVENTS, { cuts: [i + 1] })], asksUsage(i)),
  );
  const all = Array.from({ length: chunked }, (_, i) => i);
  return [
    ...steps,
    streamed([stream(EVENTS, { cuts: all })]),
    streamed([stream(EVENTS, { framing: 'length', cuts: all })], ASKS_USAGE),
    streamed([stream([EVENTS.join('')])]),
    streamed([stream([...EVENTS.join('')])], ASKS_USAGE),
  ];
}

/** A stream that stops at every 7th byte, as nodes and networks stop. */
function brokenAnywhere(): MakeStep[] {
  const play = stream(EVENTS);
  const length = Buffer.concat(play.pieces).length;
  return Array.from({ length: Math.floor(length / 7) }, (_, i) => {
    const end = (['close', 'reset'] as const)[i % 2]!;
    return streamed([brokenOff(play, 1 + 7 * i, end)], { ...asksUsage(i), model: 'gateway/fast' });
  });
}

const TEXT = delta('Hello.');
const STOP = delta({}, 0, 'stop');

/** Streams of recorded forms, named by what is special about them. */
const FORMS: readonly (readonly string[])[] = [
  [DONE],
  [],
  ['\n\n'],
  [': only a comment\n\n'],
  [TEXT, STOP],
  [TEXT, STOP, usageEvent()],
  [TEXT, STOP, usageEvent(), 'data: [DONE]'],
  [TEXT, STOP, usageEvent(), 'data: [DONE]\n'],
  [TEXT, STOP, usageEvent(), 'data:[DONE]\r\n\r\n'],
  [TEXT, STOP, usageEvent(), DONE, DONE],
  [TEXT, STOP, usageEvent(), DONE, 'data: more\n\n'],
  [TEXT, usageEvent(), DONE],
  [TEXT, DONE],
  [TEXT, STOP, DONE],
  [TEXT, STOP, usageEvent(), usageEvent({ ...USAGE, completion_tokens: 50 }), DONE],
  [usageEvent(), TEXT, STOP, DONE],
  [event({ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }], usage: USAGE }), DONE],
  [event({ choices: [{ index: 0, delta: { content: 'x' } }], usage: USAGE }), STOP, DONE],
  [event({ choices: [{ index: 0, delta: { content: 'x' } }], usage: null }), STOP, usageEvent(), DONE],
  ...[
    {},
    null,
    'x',
    { prompt_tokens: -1 },
    { prompt_tokens: 1e9 + 1, completion_tokens: 1 },
    { completion_tokens: 5 },
  ].map((usage) => [TEXT, STOP, usageEvent(usage), DONE]),
  [TEXT, STOP, usageEvent({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }), DONE],
  [TEXT, STOP, usageEvent({ prompt_tokens: 100_000, completion_tokens: 9, total_tokens: 9 }), DONE],
  ['data: {"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n', TEXT, STOP, DONE],
  ['data: {"type":"ping"}\n\n', TEXT, STOP, usageEvent(), DONE],
  [TEXT, 'data: {"type":"ping"}\n\n', STOP, usageEvent(), DONE],
  [': keep-alive\n\n', TEXT, ': again\n\n', STOP, usageEvent(), DONE],
  ['event: message\nid: 7\nretry: 10\n', TEXT, STOP, usageEvent(), DONE],
  ['\ufeff', TEXT, STOP, usageEvent(), DONE],
  [TEXT.replace('data: ', 'data:'), STOP, usageEvent(), DONE],
  [TEXT.replaceAll('\n', '\r\n'), STOP.replaceAll('\n', '\r\n'), DONE.replaceAll('\n', '\r\n')],
  [TEXT.replaceAll('\n', '\r'), STOP.replaceAll('\n', '\r'), DONE.replaceAll('\n', '\r')],
  [`data: {"id":"x","choices":[\ndata: {"index":0,"delta":{"content":"y"}}]}\n\n`, STOP, DONE],
  [TEXT.trimEnd(), '\n', STOP, DONE],
  [TEXT, 'data: what\n\n', STOP, DONE],
  ['data: what\n\n', TEXT, STOP, DONE],
  [TEXT, 'data: {"choices":[{"delta":{"content":"cut\n\n', DONE],
  [TEXT, 'data: 7\n\ndata: null\n\ndata: []\n\n', STOP, DONE],
  [TEXT, 'data:\n\n', STOP, DONE],
  [TEXT, 'nonsense: x\n\n', STOP, DONE],
  [TEXT, '\u0000\u0001\n\n', STOP, DONE],
  [event({ choices: [] }), STOP, DONE],
  [event({ choices: null }), STOP, DONE],
  [event({ choices: 'x' }), STOP, DONE],
  [event({ choices: [7, null, {}] }), STOP, DONE],
  [event({ choices: [{ index: 0, delta: null }] }), STOP, DONE],
  [event({ choices: [{ index: 0, message: { content: 'whole' }, finish_reason: 'stop' }] }), DONE],
  [delta('a', 0), delta('b', 1), delta({}, 0, 'stop'), delta({}, 1, 'stop'), usageEvent(), DONE],
  [delta('a', 0), delta('b', 1), delta({}, 0, 'stop'), DONE],
  [delta('a', 0, 'stop'), delta('b', 0, 'length'), DONE],
  [delta({ content: [{ type: 'text', text: 'part' }] }), STOP, usageEvent(), DONE],
  [delta({ reasoning_content: 'hm' }), delta({ reasoning: 'hm' }), TEXT, STOP, DONE],
  [delta({ refusal: 'No.' }), STOP, DONE],
  [
    delta({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
    delta({}, 0, 'tool_calls'),
    usageEvent(),
    DONE,
  ],
  [delta({ function_call: { name: 'f', arguments: '{}' } }), delta({}, 0, 'function_call'), DONE],
  [TEXT.replace('of-the-node', 'of-the-n\\u006fde'), STOP.replace('"model"', '"m\\u006fdel"'), DONE],
  [TEXT.replace('"model":"of-the-node",', ''), STOP, DONE],
  [TEXT.replace('"model":"of-the-node"', '"model":null'), STOP.replace('"of-the-node"', '{"x":1}'), DONE],
  [TEXT.replace('{"id"', '{"model":"first","id"'), STOP, DONE],
  [TEXT, STOP.replace('{"id":', ' { "id" : '), usageEvent(), DONE],
  [delta('x'.repeat(40_000)), STOP, usageEvent(), DONE],
  [delta('🔑'.repeat(9_000)), STOP, DONE],
  Array.from({ length: 300 }, (_, i) => delta(`w${i} `)).concat(STOP, usageEvent(), DONE),
  ...['error', 'content_filter', 'length', '', 'x'].map((finish) => [
    TEXT,
    delta({}, 0, finish),
    usageEvent(),
    DONE,
  ]),
  ...[500, 400, 429, '504', 'internal', null].flatMap((code) => {
    const error = `data: ${JSON.stringify({ error: { message: 'it failed at http://10.1.2.3:8000/v1', type: 'x', param: 'gpu-7', code } })}\n\n`;
    return [[error], [TEXT, error], [TEXT, error, STOP, DONE], [TEXT, STOP, usageEvent(), error]];
  }),
  ['data: {"error":"just words"}\n\n'],
  [TEXT, 'event: error\ndata: {"message":"x"}\n\n'],
  [event({ choices: [{ index: 0, delta: {}, error: { message: 'x', code: 500 } }] })],
  [TEXT, event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', error: { message: 'x' } }] }), DONE],
];

const FRAMINGS: readonly Framing[] = ['chunked', 'length', 'close'];

function forms(): MakeStep[] {
  return FORMS.flatMap((events, i) =>
    FRAMINGS.flatMap((framing, n) => [
      streamed([stream(events, { framing })], asksUsage(i + n)),
      streamed([stream(events, { framing, cuts: [n * 40 + 120, n * 40 + 190] })], {
        ...asksUsage(i),
        n: 2,
      }),
    ]),
  );
}

/** Streams made of random parts. */
function drawn(random: Random): MakeStep[] {
  const parts: readonly (() => string)[] = [
    () => delta(random.pick(['a', ' wort', '\n', '🔑', '"', ''])),
    () => delta(random.pick(['a', 'b'])),
    () => delta('other', 1),
    () => ': comment\n\n',
    () => delta({ role: 'assistant' }),
    () => delta({ reasoning_content: 'hm' }),
    () => random.pick(random.pick(FORMS.filter(({ length }) => length > 0))),
  ];
  return Array.from({ length: 500 }, () => {
    const events = Array.from({ length: 1 + random.below(8) }, () => random.pick(parts)());
    if (random.chance(0.8)) events.push(delta({}, 0, random.pick(['stop', 'length', 'tool_calls'])));
    if (random.chance(0.7)) events.push(usageEvent(random.chance(0.8) ? USAGE : { prompt_tokens: 'x' }));
    if (random.chance(0.85)) events.push(DONE);
    const text = events.join('');
    const grouped = random.chance(0.3) ? [text] : events;
    const framing = random.pick(FRAMINGS);
    const play = stream(grouped, { framing, cuts: someCuts(random, text.length + 100) });
    const bytes = Buffer.concat(play.pieces).length;
    const script: Script = [random.chance(0.1) ? brokenOff(play, random.below(bytes), 'reset') : play];
    return streamed(script, {
      ...someMembers(random, 0.04),
      stream: true,
      stream_options: random.pick([undefined, { include_usage: true }, { include_usage: false }, {}, null]),
      model: random.pick(['gateway/fast', 'gateway/qwen-pro']),
    });
  });
}

/** Other responses instead of a stream, and streams that stop. */
function others(): MakeStep[] {
  const silent: Play = { ...stream([TEXT]), end: 'silent' };
  return [
    [whole(completion())],
    [whole(completion(), { headers: { 'content-type': 'text/event-stream' } })],
    [stream(EVENTS, { headers: { 'content-type': 'application/json' } })],
    [stream(EVENTS, { headers: { 'content-type': 'text/plain' } })],
    [stream(EVENTS, { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-node': 'a' } })],
    [stream(EVENTS, { status: 201 })],
    [whole({ error: { message: 'x', code: 400 } })],
    [whole({ error: { message: 'x', code: 500 } })],
    [stream(EVENTS, { end: 'close' })],
    [{ pieces: [bytesOf(EVENTS, { framing: 'chunked' }).subarray(0, -5)], end: 'close' }],
    [{ pieces: [bytesOf(EVENTS, { framing: 'length' }), Buffer.from('more')], end: 'close' }],
    [nothing('close')],
    [nothing('reset')],
    [brokenOff(silent, 400, 'silent')],
  ].map((script) => streamed(script as unknown as Script));
}

/** Calls that are answered by streams. */
export function streamedCalls(random: Random): Scenario[] {
  return [
    ...scenariosOf('stream-cut', cutEverywhere()),
    ...scenariosOf('stream-broken', brokenAnywhere()),
    ...scenariosOf('stream-forms', forms()),
    ...scenariosOf('stream-drawn', drawn(random)),
    ...scenariosOf('stream-others', others()),
  ];
}

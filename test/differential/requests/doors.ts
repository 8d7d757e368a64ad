import type { Random } from '../../hostile/fuzz/random.js';
import { completion, DONE, delta, EVENTS, nothing, stream, usageEvent, whole } from '../answers.js';
import { marker, type Script } from '../node.js';
import {
  type MakeStep,
  type Scenario,
  type Step,
  scenariosOf,
  toPlatform,
  toV1,
  toWidget,
} from '../scenario.js';
import { anyAnswer, someCuts } from './plain.js';

/** The other ways to a model: `/v1/responses`, widgets and the playground. */

const refusal = (status: number): Script => [
  whole({ error: { message: 'n is too large', type: 'x', param: 'n', code: null } }, { status }),
];
const EMPTY = { choices: [] };
const DOOR_SCRIPTS: readonly (readonly [plain: Script, streamed: Script])[] = [
  [[whole(completion())], [stream(EVENTS)]],
  [[whole(completion({ usage: undefined }))], [stream([delta('a'), delta('b'), delta({}, 0, 'stop'), DONE])]],
  [[whole(completion(EMPTY))], [stream([DONE])]],
  [refusal(400), refusal(422)],
  [refusal(500), refusal(503)],
  [refusal(429), refusal(429)],
  [[nothing('reset')], [nothing('reset')]],
  [[whole('garbage')], [stream(['data: garbage\n\n'])]],
  [
    [
      whole(
        completion({
          choices: [
            { index: 0, message: { content: [{ type: 'text', text: 'part' }] }, finish_reason: 'stop' },
          ],
        }),
      ),
    ],
    [stream([delta({ content: [{ type: 'text', text: 'part' }] }), delta({}, 0, 'stop'), DONE])],
  ],
  [
    [
      whole(
        completion({
          choices: [{ index: 0, message: { content: null, refusal: 'No.' }, finish_reason: 'stop' }],
        }),
      ),
    ],
    [stream([delta({ refusal: 'No.' }), delta({}, 0, 'stop'), DONE])],
  ],
  [
    [
      whole(
        completion({
          choices: [{ index: 0, message: { content: '', reasoning_content: 'hm' }, finish_reason: 'length' }],
        }),
      ),
    ],
    [stream([delta({ reasoning_content: 'hm' }), delta({}, 0, 'length'), usageEvent(), DONE])],
  ],
  [
    [
      whole(
        completion({
          choices: [
            {
              index: 0,
              message: {
                content: null,
                tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
              },
              finish_reason: 'tool_calls',
            },
          ],
        }),
      ),
    ],
    [
      stream([
        delta({
          tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        }),
        delta({}, 0, 'tool_calls'),
        DONE,
      ]),
    ],
  ],
  [
    [whole(completion(), { cuts: [20, 150, 160, 300] })],
    [stream(EVENTS, { cuts: [140, 141, 200, 333, 500] })],
  ],
  [[whole(completion())], [stream([delta('half')], { end: 'close' })]],
  [[whole(completion())], [stream([delta('half'), 'data: {"error":{"message":"x","code":500}}\n\n'])]],
];

const RESPONSES: readonly Record<string, unknown>[] = [
  {},
  { instructions: 'Be short.', temperature: 0.5, max_output_tokens: 60 },
  {
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }],
    tool_choice: 'auto',
  },
  { text: { format: { type: 'json_object' } }, reasoning: { effort: 'low' }, metadata: { a: 'b' } },
  { store: true },
  { previous_response_id: 'resp_x' },
  { tools: [{ type: 'web_search' }] },
  {
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'x' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'y' },
    ],
  },
  { input: 7 },
  { input: [{ type: 'nonsense' }] },
  { unknown: 1, max_output_tokens: 0 },
  { model: 'gateway/none' },
];

function responses(): MakeStep[] {
  const usual = DOOR_SCRIPTS.flatMap(([plain, streamed]) =>
    [false, true].flatMap((isStream) =>
      RESPONSES.slice(0, 4).map(
        (fields): MakeStep =>
          (id) => ({
            script: isStream ? streamed : plain,
            sent: toV1('/responses', {
              model: 'gateway/fast',
              input: `Hi ${marker(id)}`,
              stream: isStream,
              ...fields,
            }),
          }),
      ),
    ),
  );
  const others = RESPONSES.slice(4).flatMap((fields) =>
    [false, true].map(
      (isStream): MakeStep =>
        () => ({
          sent: toV1('/responses', { model: 'gateway/fast', input: 'Hi', stream: isStream, ...fields }),
        }),
    ),
  );
  return [
    ...usual,
    ...others,
    ...['', '{', '[]', '{}'].map(
      (body): MakeStep =>
        () => ({ sent: toV1('/responses', body) }),
    ),
  ];
}

const message = (content: string, fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  public_key: '{widget}',
  messages: [{ role: 'user', content }],
  ...fields,
});

function widget(): MakeStep[] {
  const usual = DOOR_SCRIPTS.flatMap(([plain, streamed]) =>
    [false, true].map(
      (isStream): MakeStep =>
        (id) => ({
          script: isStream ? streamed : plain,
          sent: toWidget(message(`Hello ${marker(id)}`, { stream: isStream })),
        }),
    ),
  );
  const wrong: readonly unknown[] = [
    ...['', '{', '[]', '7', '{}', '{"public_key":7}', '{"public_key":"wg-x"}', '\ufeff{}'],
    message('x', { unknown: 1 }),
    message('x', { session_id: 'a b' }),
    message('x', { session_id: 'visit-1', offset: 2 }),
    message('x', { stream: 'yes' }),
    message(''),
    message('x'.repeat(8_001)),
    message('x', { messages: [] }),
    message('x', { messages: [{ role: 'system', content: 'x' }] }),
    message('x', { messages: [{ role: 'assistant', content: 'x' }] }),
    '{"public_key":"{widget}","public_key":"{widget}","messages":[{"role":"user","content":"x"}]}',
  ];
  const config =
    (path: string, method = 'GET'): MakeStep =>
    () => ({ sent: { method, path, headers: { origin: 'https://shop.example' } } });
  return [
    ...usual,
    ...wrong.map(
      (body): MakeStep =>
        () => ({ sent: toWidget(body) }),
    ),
    ...['https://other.example', 'null', 'nonsense', ''].map(
      (origin): MakeStep =>
        () => ({ sent: toWidget(message('x'), { origin }) }),
    ),
    config('/api/widget/{widget}/config'),
    config('/api/widget/none/config'),
    config('/api/widget/{widget}/config', 'OPTIONS'),
    config('/api/widget/chat', 'OPTIONS'),
    config('/api/widget/chat'),
  ];
}

const few = (n: number): MakeStep[] =>
  Array.from({ length: n }, (_, i) => () => ({ sent: toWidget(message(`message ${i}`)) }));

function widgets(): Scenario[] {
  const needs = { widget: { system_prompt: 'Be kind.', daily_message_limit: 1_000 } };
  const one = (fields: Record<string, unknown>) => ({ needs: { widget: fields } });
  return [
    ...scenariosOf('widget', widget(), { needs }),
    ...scenariosOf('widget-origin', few(4), one({ allowed_domains: ['other.example'] })),
    ...scenariosOf('widget-minute', few(8), one({ rate_limit_per_minute: 5 })),
    ...scenariosOf('widget-day', few(8), one({ daily_message_limit: 5 })),
    ...scenariosOf('widget-visitor', few(8), one({ visitor_daily_limit: 3 })),
    ...scenariosOf('widget-month', few(8), one({ monthly_limit_usd: 0.00003 })),
    ...scenariosOf('widget-poor', few(3), { needs: { widget: {}, balance: '0' } }),
    ...scenariosOf('widget-near-zero', few(3), { needs: { widget: {}, balance: '0.0005' } }),
    ...scenariosOf('widget-plan', few(2), { needs: { widget: {}, plan: 'free' } }),
  ];
}

function playground(): MakeStep[] {
  const models = [
    ['gateway/fast'],
    ['gateway/fast', 'gateway/qwen-fast'],
    ['gateway/none'],
    ['gateway/embed'],
    [],
  ];
  const usual = DOOR_SCRIPTS.map(
    ([, streamed]): MakeStep =>
      (id) => ({
        script: streamed,
        sent: toPlatform('/api/playground', { prompt: `Hi ${marker(id)}`, models: models[0] }),
      }),
  );
  const wrong: readonly unknown[] = [
    '',
    '{',
    {},
    { prompt: '', models: models[0] },
    { prompt: 'x'.repeat(50_001), models: models[0] },
  ];
  return [
    ...usual,
    ...models.map(
      (names): MakeStep =>
        () => ({
          sent: toPlatform('/api/playground', {
            prompt: 'Hi',
            models: names,
            parameters: { max_tokens: 50 },
          }),
        }),
    ),
    ...wrong.map(
      (body): MakeStep =>
        () => ({ sent: toPlatform('/api/playground', body) }),
    ),
  ];
}

/** Calls through several doors in the name of one account, with any response. */
const several = (random: Random): MakeStep[] =>
  Array.from({ length: 120 }, (_, i) => (id: string): Step => {
    const script = anyAnswer(random);
    if (i % 3 === 0)
      return { script, sent: toV1('/responses', { model: 'gateway/fast', input: marker(id) }) };
    if (i % 3 === 1) return { script, sent: toWidget(message(marker(id))) };
    const cuts = someCuts(random, 700);
    return {
      script: [stream(EVENTS, { cuts })],
      sent: toPlatform('/api/playground', { prompt: marker(id), models: ['gateway/fast'] }),
    };
  });

export const otherDoors = (random: Random): Scenario[] => [
  ...scenariosOf('responses', responses()),
  ...widgets(),
  ...scenariosOf('playground', playground()),
  ...scenariosOf('several', several(random), { needs: { widget: {} }, perAccount: 30 }),
];

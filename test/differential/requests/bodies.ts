import type { Random } from '../../hostile/fuzz/random.js';
import { spoiled } from '../../hostile/fuzz/values.js';
import { marker } from '../node.js';
import { chatBody, type MakeStep, type Scenario, scenariosOf, toV1 } from '../scenario.js';

/** Bodies that are invalid, or look invalid. */

const OK = '"model":"gateway/fast","messages":[{"role":"user","content":"Hi"}]';

const RECORDED: readonly (string | Buffer)[] = [
  ...[
    '',
    ' ',
    '{',
    '{}',
    '[]',
    '"x"',
    '7',
    'null',
    'true',
    'undefined',
    '{"a"}',
    "{'a':1}",
    '{"a":1,}',
    '{a:1}',
  ],
  ...[
    `{${OK}`,
    `{${OK}}x`,
    `{${OK}} {}`,
    `{${OK},}`,
    ` \n\t{${OK}} \r\n`,
    `\ufeff{${OK}}`,
    `\f{${OK}}`,
    `{${OK}}\u0000`,
  ],
  Buffer.from(`{${OK}}`, 'utf16le'),
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from(`{${OK},"x":"\xe9"}`, 'latin1'),
  Buffer.from('7b226d6f64656c223a22ed a080227d'.replaceAll(' ', ''), 'hex'),
  ...[
    'model',
    'messages',
    'stream',
    'n',
    'max_tokens',
    'stream_options',
    'max_completion_tokens',
    'temperature',
    'x',
  ].map((name) => `{"${name}":1,${OK},"${name}":2}`),
  `{${OK},"m\\u006fdel":"gateway/qwen-pro"}`,
  `{${OK},"Model":"gateway/qwen-pro"}`,
  `{${OK},"x":{"model":"a","model":"b"}}`,
  `{${OK},"__proto__":{"model":"x"},"constructor":1}`,
  ...[
    'null',
    '1',
    '""',
    '" "',
    '[]',
    '{}',
    '"gateway/none"',
    '"gateway\\/fast"',
    '"GATEWAY/FAST"',
    '"fast"',
    '"gateway/fast "',
    '"\\ud800"',
    `"${'m'.repeat(500)}"`,
  ].map((model) => `{"model":${model},"messages":[{"role":"user","content":"Hi"}]}`),
  ...[
    'null',
    '"x"',
    '{}',
    '[]',
    '[7]',
    '[null]',
    '[{}]',
    '[[]]',
    '[{"role":"user"}]',
    '[{"content":"x"}]',
    '[{"role":7,"content":"x"}]',
    '[{"role":"user","content":7}]',
    '[{"role":"user","content":[7]}]',
    '[{"role":"user","content":[{"type":"nonsense"}]}]',
    '[{"role":"user","content":[{"type":"text","text":7}]}]',
    '[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://127.0.0.1/x"}}]}]',
    '[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]',
    '[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]',
    '[{"role":"tool","content":"x"}]',
    '[{"role":"assistant","content":null}]',
    '[{"role":"assistant","tool_calls":"x"}]',
  ].map((messages) => `{"model":"gateway/fast","messages":${messages}}`),
  ...['0', '-1', '129', '1.5', '"1"', 'null', '1e2', '1e400', '-0', '[]', '9007199254740993'].flatMap(
    (value) =>
      ['n', 'max_tokens', 'max_completion_tokens', 'temperature', 'stream', 'seed'].map(
        (name) => `{${OK},"${name}":${value}}`,
      ),
  ),
  ...[
    'null',
    '7',
    '[]',
    '{"include_usage":1}',
    '{"include_usage":null}',
    '{"include_usage":true,"x":1}',
    '{"include_usage":true,"include_usage":false}',
  ].flatMap((options) => [
    `{${OK},"stream":true,"stream_options":${options}}`,
    `{${OK},"stream_options":${options}}`,
  ]),
  ...[
    '7',
    '[7]',
    '[{}]',
    '[{"type":"web_search"}]',
    '[{"type":"function"}]',
    '[{"type":"function","function":{"name":"f","parameters":7}}]',
  ].map((tools) => `{${OK},"tools":${tools}}`),
  `{${OK},"stream":true,"stream":true}`,
  `{${OK},"max_tokens":5,"max_completion_tokens":6}`,
  `{${OK},"max_tokens":8000}`,
  `{${OK},"max_tokens":100000}`,
  `{${OK},"n":128,"max_tokens":8000}`,
  `{${OK},"x":${'['.repeat(60)}${']'.repeat(60)}}`,
  `{${OK},"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
  `{"model":"gateway/fast","messages":[{"role":"user","content":"${'word '.repeat(12_000)}"}]}`,
  `{"model":"gateway/fast","messages":[${Array.from({ length: 3_000 }, () => '{"role":"user","content":"x"}')}]}`,
  `{"model":"gateway/fast","messages":[{"role":"user","content":"bad escape \\x"}]}`,
  `{"model":"gateway/fast","messages":[{"role":"user","content":"control \u0001"}]}`,
  `{"model":"gateway/fast","messages":[{"role":"user","content":"\\u00"}]}`,
  `{"model":"gateway/fast","messages":[{"role":"user","content":"\\u000c\\u000b"}]}`,
  `{"model":"gateway/fast","messages":[{"role":"user","content":"no end`,
];

const TYPES = [
  'text/plain',
  '',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
];

function texts(): MakeStep[] {
  return [
    ...RECORDED.flatMap((body): MakeStep[] => [
      () => ({ sent: toV1('/chat/completions', body) }),
      () => ({
        sent: toV1('/embeddings', typeof body === 'string' ? body.replace('"messages"', '"input"') : body),
      }),
    ]),
    ...TYPES.map(
      (type): MakeStep =>
        () => ({ sent: toV1('/chat/completions', `{${OK}}`, { 'content-type': type }) }),
    ),
    ...['gzip', 'br', 'identity', 'x'].map(
      (coding): MakeStep =>
        () => ({ sent: toV1('/chat/completions', `{${OK}}`, { 'content-encoding': coding }) }),
    ),
  ];
}

/** A valid body with one change: a value, or a character of its text. */
function drawn(random: Random): MakeStep[] {
  return Array.from({ length: 500 }, () => (id: string) => {
    const isEmbedding = random.chance(0.25);
    const good = isEmbedding
      ? { model: 'gateway/embed', input: [`Hi ${marker(id)}`, 'two'], encoding_format: 'float' }
      : chatBody([{ type: 'text', text: `Hi ${marker(id)}` }], {
          stream: random.chance(0.3),
          stream_options: { include_usage: true },
          max_tokens: 50,
          tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
          response_format: { type: 'json_object' },
          stop: ['x'],
        });
    let text = JSON.stringify(random.chance(0.6) ? spoiled(random, good) : good) ?? '';
    if (random.chance(0.5)) {
      const at = random.below(text.length);
      const change = random.pick(['', '"', ',', ':', '{', ']', '\\', '0', 'e', '\u00e9', '\n']);
      text = text.slice(0, at) + change + text.slice(at + random.below(2));
    }
    return { sent: toV1(isEmbedding ? '/embeddings' : '/chat/completions', text) };
  });
}

export const malformedBodies = (random: Random): Scenario[] => [
  ...scenariosOf('bodies', texts()),
  ...scenariosOf('bodies-drawn', drawn(random)),
];

import { routes } from '../proxy/routes.js';
import { ask, post } from '../proxy/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import {
  chat,
  FULL_STREAM,
  raw,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';

type Bound = { max_tokens?: number | null; max_completion_tokens?: number | null };
type Field = keyof Bound;

const boundIn = (body: string): Bound => {
  const { max_tokens, max_completion_tokens } = JSON.parse(body) as Bound;
  return { max_tokens, max_completion_tokens };
};

describe('the bound of an answer', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let proxy: TestProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
  });
  beforeEach(async () => {
    // The router remembers what a node accepts, so each test has deployments of its own.
    node.seen.length = 0;
    proxy = await startTestProxy(db, {
      config: routes([
        { model: 'gateway/fast', id: 'default', url: node.url },
        { model: 'gateway/old', id: 'old', url: node.url, maxTokensField: 'max_tokens' },
        { model: 'gateway/new', id: 'new', url: node.url, maxTokensField: 'max_completion_tokens' },
        { model: 'gateway/both', id: 'both', url: node.url, maxTokensField: 'both' },
      ]),
      settings: { numRetries: 0, allowedFails: 1_000 },
    });
  });
  afterEach(() => proxy.close());
  afterAll(async () => {
    await node.close();
    await db.close();
  });

  const call = (body: unknown) => post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, body);
  const bounds = (): Bound[] => node.seen.map(({ body }) => boundIn(body));
  const refusal = (message: string, fields: object = {}): string =>
    JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null, ...fields } });
  /** A node that accepts only that field. */
  const takesOnly =
    (field: Field, answer: string, status = 400): Script =>
    (request, response) => {
      const sent = boundIn(request.body);
      const others = Object.entries(sent).some(([name, value]) => name !== field && value !== undefined);
      return (others ? raw(status, answer) : chat())(request, response);
    };

  const SENT: [string, string, string, Bound][] = [
    ['the newer one', 'fast', '"max_completion_tokens":50', { max_tokens: 50, max_completion_tokens: 50 }],
    ['the older one', 'fast', '"max_tokens": 50', { max_tokens: 50, max_completion_tokens: 50 }],
    [
      'one that is null',
      'fast',
      '"max_tokens":null,"max_completion_tokens":50',
      { max_tokens: 50, max_completion_tokens: 50 },
    ],
    [
      'two that differ',
      'both',
      '"max_tokens":60,"max_completion_tokens":50',
      { max_tokens: 60, max_completion_tokens: 50 },
    ],
    ['two that are null', 'fast', '"max_tokens":null', { max_tokens: null }],
    ['none', 'fast', '"n":1', {}],
    ['the newer one for an older node', 'old', '"max_completion_tokens":50 ', { max_tokens: 50 }],
    ['both for an older node', 'old', '"max_tokens":60 , "max_completion_tokens":50', { max_tokens: 60 }],
    [
      'null and a bound for an older node',
      'old',
      '"max_tokens":null,"max_completion_tokens":50',
      { max_tokens: 50 },
    ],
    ['the older one for a newer node', 'new', '"max_tokens":50', { max_completion_tokens: 50 }],
  ];

  test.each(SENT)(
    'is sent to the node in the fields of its deployment: %s',
    async (_what, model, sent, got) => {
      node.answer(chat());
      for (const body of [
        `{"model":"gateway/${model}","messages":[],${sent}}`,
        `{ ${sent} , "messages":[{"content":"\\"max_tokens\\":1}"}] , "model":"gateway/${model}" }`,
      ]) {
        expect((await call(body)).status).toBe(200);
      }
      expect(bounds()).toEqual([got, got]);
    },
  );

  const WORDS: [string, Field, number, string][] = [
    [
      'OpenAI, Azure',
      'max_completion_tokens',
      400,
      refusal(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        { param: 'max_tokens', code: 'unsupported_parameter' },
      ),
    ],
    [
      'OpenAI of both',
      'max_completion_tokens',
      400,
      refusal("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", {
        param: 'max_tokens',
        code: 'invalid_parameter_combination',
      }),
    ],
    [
      'Mistral',
      'max_tokens',
      422,
      JSON.stringify({
        object: 'error',
        message: {
          detail: [
            {
              type: 'extra_forbidden',
              loc: ['body', 'max_completion_tokens'],
              msg: 'Extra inputs are not permitted',
              input: 50,
            },
          ],
        },
        code: null,
      }),
    ],
    [
      'older vLLM',
      'max_tokens',
      400,
      JSON.stringify({
        object: 'error',
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted', 'input': 50}]",
        code: 400,
      }),
    ],
    ['Groq', 'max_tokens', 400, refusal("property 'max_completion_tokens' is unsupported")],
    [
      'Gemini',
      'max_tokens',
      400,
      refusal('Invalid JSON payload received. Unknown name "max_completion_tokens": Cannot find field.'),
    ],
    [
      'a Rust server',
      'max_tokens',
      422,
      '{"error":"unknown field `max_completion_tokens`, expected one of `model`, `max_tokens`"}',
    ],
    [
      'a Python server',
      'max_tokens',
      400,
      refusal("got an unexpected keyword argument 'max_completion_tokens'"),
    ],
    ['xAI', 'max_completion_tokens', 400, '{"error":"Argument not supported on this model: max_tokens"}'],
    [
      'a schema',
      'max_tokens',
      400,
      refusal("Additional properties are not allowed ('max_completion_tokens' was unexpected)"),
    ],
    [
      'no word on which field',
      'max_completion_tokens',
      400,
      refusal('max_tokens and max_completion_tokens cannot both be set'),
    ],
  ];

  test.each(WORDS)(
    'is sent again at once in the field that the node accepts, and only there from then on: %s',
    async (_what, field, status, answer) => {
      node.answer(takesOnly(field, answer, status));
      for (let calls = 0; calls < 2; calls++) {
        expect((await call(ask('Hi', { max_completion_tokens: 50 }))).status).toBe(200);
      }
      const both = { max_tokens: 50, max_completion_tokens: 50 };
      expect(bounds()).toEqual([both, { [field]: 50 }, { [field]: 50 }]);
    },
  );

  test('is sent again if the refusal is the first event of a stream', async () => {
    const error = refusal("'max_completion_tokens' is not supported", { code: 400 });
    node.answer((request, response) =>
      stream('max_completion_tokens' in JSON.parse(request.body) ? [`data: ${error}\n\n`] : FULL_STREAM)(
        request,
        response,
      ),
    );
    const answer = await call(ask('Hi', { max_tokens: 50, stream: true }));
    expect(await answer.text()).toContain('[DONE]');
    expect(bounds().at(-1)).toEqual({ max_tokens: 50 });
  });

  const VALUES = [
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 8192 tokens.",
    'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
    'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
    'max_tokens must be at least 1, got 0.',
    'max_tokens is not allowed to exceed 4096',
  ];

  test.each(VALUES)('is sent only once if its value is refused: %s', async (message) => {
    node.answer(raw(400, refusal(message, { param: 'max_tokens', code: 'invalid_value' })));
    const answer = await call(ask('Hi', { max_tokens: 50 }));
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { message: string } }).error.message).toBe(message);
    expect(node.seen).toHaveLength(1);
  });

  test('is sent in each field at most once, and refusals alone teach the router nothing', async () => {
    node.answer((request, response) => {
      const name = boundIn(request.body).max_tokens === undefined ? 'max_completion_tokens' : 'max_tokens';
      return raw(400, refusal(`Unknown parameter: '${name}'`, { param: name }))(request, response);
    });
    expect((await call(ask('Hi', { max_tokens: 50 }))).status).toBe(400);
    expect(bounds()).toEqual([
      { max_tokens: 50, max_completion_tokens: 50 },
      { max_completion_tokens: 50 },
      { max_tokens: 50 },
    ]);
    node.answer(chat());
    await call(ask('Hi', { max_tokens: 50 }));
    expect(bounds().at(-1)).toEqual({ max_tokens: 50, max_completion_tokens: 50 });
  });

  test("stays in the field of the routing file, whatever the node's refusal says", async () => {
    node.answer(raw(400, refusal("'max_tokens' is not supported. Use 'max_completion_tokens' instead.")));
    const answer = await call({ ...ask('Hi', { max_completion_tokens: 50 }), model: 'gateway/old' });
    expect(answer.status).toBe(400);
    expect(bounds()).toEqual([{ max_tokens: 50 }]);
  });
});

import { AppError } from '../../src/errors.js';
import { inspectBody } from '../../src/inference/request/request-body.js';
import { isSteering } from '../../src/lib/steering-fields.js';
import fc from '../support/fast-check.js';

const NONE = new Set<string>();
const inspect = (body: unknown) =>
  inspectBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), NONE);
const forwarded = (body: unknown) => JSON.parse(inspect(body).forward.toString());

/** Members that SDKs send and nodes document, whatever they hold. */
const PASSING = [
  ...['messages', 'input', 'temperature', 'tool_choice', 'response_format', 'stop', 'seed', 'user'],
  ...['logit_bias', 'top_logprobs', 'functions', 'reasoning_effort', 'parallel_tool_calls'],
  ...['top_k', 'min_p', 'repetition_penalty', 'guided_json', 'regex', 'ebnf'],
  ...['grammar', 'mirostat', 'stop_token_ids', 'ignore_eos', 'min_tokens', 'documents', 'typical_p'],
];

/** Requirement T2: names that a model proxy would obey, that override the bound on a node, or that nobody knows. */
const FORBIDDEN = [
  'api_base',
  'base_url',
  'api_key',
  'api_version',
  'api_type',
  'fallbacks',
  'context_window_fallbacks',
  'content_policy_fallbacks',
  'default_fallbacks',
  'disable_fallbacks',
  'metadata',
  'tags',
  'user_config',
  'model_list',
  'mock_response',
  'mock_timeout',
  'mock_tool_calls',
  'mock_testing_fallbacks',
  'litellm_params',
  'litellm_metadata',
  'litellm_call_id',
  'x-litellm-tags',
  'extra_headers',
  'headers',
  'custom_llm_provider',
  'organization',
  'num_retries',
  'max_retries',
  'timeout',
  'request_timeout',
  'guardrails',
  'cache',
  'caching',
  'no-log',
  'proxy_server_request',
  'model_info',
  'deployment_id',
  'aws_access_key_id',
  'azure_ad_token',
  'vertex_credentials',
  'input_cost_per_token',
  'output_cost_per_token',
  'user_api_key',
  'drop_params',
  'API_BASE',
  'specific_deployment',
  'router_settings',
  ...['langfuse_public_key', 'langfuse_host', 'langsmith_project', 'gcs_bucket_name', 'posthog_api_key'],
  ...[
    'web_search_options',
    'turn_off_message_logging',
    'prompt_id',
    'prompt_variables',
    'provider_specific_header',
  ],
  ...['n_predict', 'max_new_tokens', 'max_tokens_per_doc', 'max_output_tokens', 'num_predict', 'n_cmpl'],
  ...['options', 'parameters', 'sampling_params', 'kv_transfer_params', 'bootstrap_host', 'lora_path'],
  ...['priority', 'request_id', 'id_slot', 'chat_template', 'custom_logit_processor', 'logits_processors'],
  ...['Max_Tokens', 'TEMPERATURE', 'x_new', '__proto__', 'constructor', ''],
];

describe('the body that goes upstream', () => {
  test('is the same bytes if nothing has to change', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...PASSING), fc.jsonValue()), (extra) => {
        const body = Buffer.from(JSON.stringify({ ...extra, model: 'gateway/fast' }, null, 1));
        expect(inspectBody(body, NONE)).toMatchObject({ forward: body, dropped: undefined });
        expect(inspectBody(body, NONE).forward).toBe(body);
      }),
    );
  });

  test.each(FORBIDDEN)('has no %s, wherever it is and however it is written', (name) => {
    const escaped = [...name].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    for (const key of [name, escaped]) {
      expect(forwarded(`{"${key}":{"a":[1,"}"]},"model":"m","top_k":1}`)).toEqual({ model: 'm', top_k: 1 });
      expect(forwarded(`{"model":"m","top_k":1 , "${key}" : "v" }`)).toEqual({ model: 'm', top_k: 1 });
      expect(forwarded(`{"model":"m","${key}":1,"top_k":1,"${key}":2}`)).toEqual({ model: 'm', top_k: 1 });
    }
  });

  test('has what the operator allows', () => {
    const body = Buffer.from('{"model":"m","lora_path":"x","priority":1}');
    const { forward, dropped } = inspectBody(body, new Set(['lora_path']));
    expect(JSON.parse(forward.toString())).toEqual({ model: 'm', lora_path: 'x' });
    expect(dropped).toBe('priority');
  });

  test('lists dropped names in few plain characters', () => {
    expect(inspect({ model: 'm', seed: 1 }).dropped).toBeUndefined();
    expect(inspect('{"model":"m","tags":1,"x\\r\\nset-cookie: a=1":2,"é":1,"tags":3,"":4}').dropped).toBe(
      'tags, x??set-cookie??a?1, ?, ?',
    );
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}${'x'.repeat(500)}`, 1]));
    const { dropped } = inspect({ model: 'm', ...many });
    expect(dropped).toMatch(/, and 484 more$/);
    expect(dropped!.length).toBeLessThan(1_200);
  });

  test('asks for usage in every stream and changes nothing else', () => {
    const include = { stream_options: { include_usage: true } };
    expect(forwarded({ model: 'm', stream: true, user: 'é' })).toEqual({
      ...include,
      model: 'm',
      stream: true,
      user: 'é',
    });
    expect(forwarded({ model: 'm', stream: true, stream_options: null })).toEqual({
      model: 'm',
      stream: true,
      ...include,
    });
    const asked = Buffer.from('{"model":"m","stream":true,"stream_options":{"include_usage":true}}');
    expect(inspectBody(asked, NONE)).toMatchObject({ usageAsked: true, forward: asked });
    expect(inspect({ model: 'm', stream: false }).usageAsked).toBe(false);
  });

  test.each([
    ['{"include_usage":false,"other":"→"}', '{"include_usage":true}', 'stream_options.other'],
    [
      '{"include_usage":true,"Include_Usage":false}',
      '{"include_usage":true}',
      'stream_options.Include_Usage',
    ],
    ['{"include_usage":false,"include_usage":true}', '{"include_usage":true}', undefined],
    ['{"include_usage":true,"include\\u005fusage":true}', '{"include_usage":true}', undefined],
    [
      '{"continuous_usage_stats":true,"include_usage":"no"}',
      '{"include_usage":true,"continuous_usage_stats":true}',
      undefined,
    ],
  ])('has its stream options rebuilt: %s', (options, sent, dropped) => {
    const body = `{"model":"m","stream":true,"stream_options":${options},"Stream_Options":{"include_usage":false}}`;
    const read = inspect(body);
    expect(read.forward.toString()).toBe(`{"model":"m","stream":true,"stream_options":${sent}}`);
    expect(read.dropped).toBe(['Stream_Options', ...(dropped ? [dropped] : [])].join(', '));
  });

  test.each([
    ...['Max_Tokens', 'MAX_COMPLETION_TOKENS', 'N', 'Best_Of', 'Stream', 'Model', 'Stream_Options'],
    ...['extra_body', 'Extra_Body', 'options', 'Options', 'sampling_params', 'Sampling_Params'],
  ])('never carries %s, which some nodes would read as a member that decides on the price', (name) => {
    expect(forwarded({ model: 'm', [name]: { n: 4 } })).toEqual({ model: 'm' });
    expect(isSteering(name)).toBe(true);
  });
});

describe('a body', () => {
  test.each([
    ['empty', ''],
    ['not JSON', 'hello'],
    ['cut', '{"model":"m"'],
    ['trailing text', '{"model":"m"} x'],
    ['an array', '[{"model":"m"}]'],
    ['a string', '"model"'],
    ['null', 'null'],
    ['without model', '{"messages":[]}'],
    ['with an empty model', '{"model":""}'],
    ['with a model that is no text', '{"model":1}'],
    ['with two models', '{"model":"a","model":"b"}'],
    ['with two models, one escaped', '{"model":"a","mod\\u0065l":"b"}'],
    ['with two streams', '{"model":"a","stream":true,"stream":false}'],
    ['with stream as text', '{"model":"a","stream":"true"}'],
    ['with stream_options as a list', '{"model":"a","stream":true,"stream_options":[]}'],
    ['with n of 0', '{"model":"a","n":0}'],
    ['with n of 129', '{"model":"a","n":129}'],
    ['with n of 1.5', '{"model":"a","n":1.5}'],
    ['with max_tokens of 0', '{"model":"a","max_tokens":0}'],
    ['with two lists of tools', '{"model":"a","tools":[],"tools":[]}'],
    ['with two lists of messages', '{"model":"a","messages":[],"messages":[]}'],
    ['with two inputs', '{"model":"a","input":"a","input":"b"}'],
    ['with two encodings', '{"model":"a","encoding_format":"float","encoding_format":"base64"}'],
    ['with two template arguments', '{"model":"a","chat_template_kwargs":{},"chat_template_kwargs":{}}'],
    [
      'with more template arguments than anybody names',
      `{"model":"a","chat_template_kwargs":{${Array(65).fill('"thinking":1').join()}}}`,
    ],
    ['with two max_tokens', '{"model":"a","max_tokens":1,"max_tokens":2}'],
    ['nested too deep', `{"model":"a","x":${'['.repeat(70)}${']'.repeat(70)}}`],
  ])('that is %s is refused as invalid_body', (_what, body) => {
    expect(() => inspect(body)).toThrow(expect.objectContaining({ code: 'invalid_body' }));
  });

  test('that is not UTF-8 is refused', () => {
    const body = Buffer.concat([Buffer.from('{"model":"a'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(() => inspectBody(body, NONE)).toThrow(AppError);
  });

  test('of any kind is passed or refused, and nothing else happens', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        ),
        (body) => {
          try {
            inspectBody(Buffer.from(body), NONE);
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
            expect((error as AppError).code).toBe('invalid_body');
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('is read for model, counts and limits', () => {
    expect(
      inspect({
        model: 'modèle',
        n: 3,
        best_of: 5,
        max_tokens: 5,
        max_completion_tokens: 9,
        input: 'abcd',
        encoding_format: 'base64',
      }),
    ).toMatchObject({
      model: 'modèle',
      choices: 3,
      candidates: 5,
      maxTokens: 9,
      input: { bytes: 6 },
      encoding: 'base64',
      stream: false,
    });
    expect(inspect({ model: 'm', n: null, max_tokens: null, stream: null })).toMatchObject({
      choices: 1,
      candidates: 1,
      maxTokens: null,
      stream: false,
    });
  });
});

describe('a large body', () => {
  const PADDING = ' '.repeat(70_000);
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom(true, 1, 128, 0, 'gateway/fast', null, 'base64'));
  const names = fc.constantFrom(
    ...['model', 'stream', 'stream_options', 'n', 'max_tokens', 'max_completion_tokens', 'encoding_format'],
    ...['messages', 'api_base', 'other', '__proto__'],
  );

  const outcome = (text: string) => {
    try {
      const { forward, modelAt, ...read } = inspectBody(Buffer.from(text), NONE);
      const named = forward.toString('utf8', modelAt.start, modelAt.end);
      return { ...read, named, forward: forward.toString().replaceAll(PADDING, '') };
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      return (error as AppError).options.param ?? 'refused';
    }
  };

  test('is read like a small one', () => {
    const members = fc.array(fc.tuple(names, value), { maxLength: 8 });
    fc.assert(
      fc.property(members, fc.boolean(), fc.nat(), (list, known, cut) => {
        const texts = list.map(([name, inner]) => `${JSON.stringify(name)}:${JSON.stringify(inner)}`);
        if (known) texts.push('"model":"gateway/ä"');
        const text = `{${texts.join(', ')}}`;
        const part = cut % 4 === 0 ? text.slice(0, cut % text.length) : text;
        expect(outcome(part.replace('{', `{${PADDING}`))).toEqual(outcome(part));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    [
      'more members than anybody needs',
      `{"model":"m",${Array.from({ length: 9_000 }, (_, i) => `"k${i}":1`).join()}}`,
    ],
    ['a model as long as a book', `{"model":"${'x'.repeat(70_000)}"}`],
    [
      'options as long as a book',
      `{"model":"m","stream":true,"stream_options":{"a":"${'x'.repeat(70_000)}"}}`,
    ],
    ['a name as long as a book', `{"model":"m","${'x'.repeat(70_000)}":1}`],
    [
      'a tool of more members than it can have',
      `{"model":"m","a":"${'x'.repeat(70_000)}","tools":[{"type":"function",${Array(70).fill('"name":"a"').join()}}]}`,
    ],
    [
      'more addresses than a context holds images',
      `{"model":"m","messages":[${Array(3_000).fill('{"image_url":"https://a.example/"}').join()}]}`,
    ],
    ['bytes that are no UTF-8', Buffer.from(`{"model":"m","a":"\xff${'x'.repeat(70_000)}"}`, 'latin1')],
  ])('is refused with %s', (_what, body) => {
    expect(() => inspectBody(Buffer.from(body as string), NONE)).toThrow(AppError);
  });
});

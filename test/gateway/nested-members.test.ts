import { inspectBody } from '../../src/inference/request/request-body.js';
import fc from '../support/fast-check.js';

const NONE = new Set<string>();
const PADDING = ' '.repeat(70_000);
const inspect = (body: unknown, allowed = NONE) =>
  inspectBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), allowed);
const sent = (body: unknown, allowed = NONE) => {
  const { forward, dropped } = inspect(body, allowed);
  return { body: JSON.parse(forward.toString()) as Record<string, unknown>, dropped };
};
const FUNCTION = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };

/** A body as it is and beyond the size up to which bodies are parsed. */
const bothSizes = (body: object): string[] => {
  const text = JSON.stringify({ model: 'm', ...body });
  return [text, text.replace('{', `{${PADDING}`)];
};

describe('tools', () => {
  test('that the caller runs pass unchanged', () => {
    const custom = { type: 'custom', custom: { name: 'c', format: { type: 'text' } } };
    const flat = { type: 'function', name: 'f', description: '', parameters: {}, strict: true };
    for (const tools of [null, [], [FUNCTION], [FUNCTION, custom, { ...flat, cache_control: {} }]]) {
      for (const text of bothSizes({ tools })) {
        const body = Buffer.from(text);
        expect(inspectBody(body, NONE).forward).toBe(body);
      }
    }
  });

  test.each([
    ['mcp', { type: 'mcp', server_url: 'http://10.0.0.1/', server_label: 'x' }, 'tools[1].type'],
    ['file_search', { type: 'file_search', vector_store_ids: ['a'] }, 'tools[1].type'],
    ['web_search', { type: 'web_search' }, 'tools[1].type'],
    ['web_search_preview', { type: 'web_search_preview' }, 'tools[1].type'],
    ['code_interpreter', { type: 'code_interpreter', container: { type: 'auto' } }, 'tools[1].type'],
    ['a type in other letters', { type: 'FUNCTION' }, 'tools[1].type'],
    ['no type', { function: {} }, 'tools[1].type'],
    ['a type that is no text', { type: ['function'] }, 'tools[1].type'],
    ['a tool of Gemini’s beside the function', { ...FUNCTION, googleSearch: {} }, 'tools[1].googleSearch'],
    [
      'an address beside the function',
      { ...FUNCTION, server_url: 'http://10.0.0.1/' },
      'tools[1].server_url',
    ],
    ['a name that isn’t plain', { ...FUNCTION, 'a\r\nb': 1 }, 'tools[1].a??b'],
    ['a list', [], 'tools[1]'],
    ['null', null, 'tools[1]'],
    ['a text', 'mcp', 'tools[1]'],
  ])('of another kind are refused with their path: %s', (_what, tool, param) => {
    for (const text of bothSizes({ tools: [FUNCTION, tool, FUNCTION] })) {
      expect(() => inspect(text)).toThrow(
        expect.objectContaining({ code: 'invalid_body', options: expect.objectContaining({ param }) }),
      );
    }
  });

  test('must be an array', () => {
    for (const tools of [{}, 'x', 1, true]) {
      for (const text of bothSizes({ tools }))
        expect(() => inspect(text)).toThrow('"tools" must be an array.');
    }
  });

  test('are checked the same in small and large bodies', () => {
    const name = fc.constantFrom('type', 'function', 'custom', 'name', 'server_url', '__proto__');
    const value = fc.oneof(fc.constantFrom('function', 'custom', 'mcp'), fc.jsonValue({ maxDepth: 2 }));
    const tool = fc.oneof(fc.dictionary(name, value, { maxKeys: 3 }), fc.constant(FUNCTION), fc.jsonValue());
    const outcome = (text: string) => {
      try {
        return inspect(text).dropped ?? 'passes';
      } catch (error) {
        return (error as Error).message;
      }
    };
    fc.assert(
      fc.property(fc.array(tool, { maxLength: 3 }), (tools) => {
        const [small, large] = bothSizes({ tools }).map(outcome);
        expect(large).toBe(small);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the arguments of a chat template', () => {
  const OVERRIDES = {
    chat_template: '{{ x }}',
    tokenize: true,
    add_generation_prompt: false,
    continue_final_message: true,
    conversation: [],
    documents: [{ text: 'a' }],
    tools: [{ type: 'mcp' }],
  };

  test('that are documented pass unchanged', () => {
    const known = { enable_thinking: false, thinking: true, reasoning_effort: 'high', thinking_budget: 512 };
    for (const args of [known, {}, null, { ...known, date_string: null }]) {
      const body = Buffer.from(JSON.stringify({ model: 'm', chat_template_kwargs: args }, null, 2));
      expect(inspectBody(body, NONE)).toMatchObject({ forward: body, dropped: undefined });
    }
  });

  test('that override what the node gives the template are dropped and listed, the others pass', () => {
    for (const text of bothSizes({
      api_base: 'x',
      chat_template_kwargs: { enable_thinking: false, ...OVERRIDES, thinking: true },
      seed: 1,
    })) {
      const { body, dropped } = sent(text);
      expect(body).toEqual({
        ...{ model: 'm', seed: 1 },
        chat_template_kwargs: { enable_thinking: false, thinking: true },
      });
      expect(dropped).toBe(
        ['api_base', ...Object.keys(OVERRIDES).map((name) => `chat_template_kwargs.${name}`)].join(', '),
      );
    }
  });

  test('are dropped however they are written, also if usage is requested', () => {
    const text = `{"model":"m","stream":true,"chat_template_kwargs" : {"chat\\u005ftemplate":"x", "thinking":true,"chat_template":"y"}}`;
    expect(sent(text)).toEqual({
      body: {
        ...{ model: 'm', stream: true, stream_options: { include_usage: true } },
        chat_template_kwargs: { thinking: true },
      },
      dropped: 'chat_template_kwargs.chat_template',
    });
    expect(sent({ model: 'm', chat_template_kwargs: { tokenize: 1 } }).body.chat_template_kwargs).toEqual({});
  });

  test('pass if short, or if the operator lists them', () => {
    const args = { thinking: 'x'.repeat(100), reasoning_effort: ['high'], mine: { a: 1 } };
    expect(sent({ model: 'm', chat_template_kwargs: args })).toMatchObject({
      body: { chat_template_kwargs: {} },
      dropped: Object.keys(args)
        .map((name) => `chat_template_kwargs.${name}`)
        .join(', '),
    });
    const allowed = new Set(['chat_template_kwargs.mine']);
    expect(sent({ model: 'm', chat_template_kwargs: args }, allowed).body).toEqual({
      model: 'm',
      chat_template_kwargs: { mine: { a: 1 } },
    });
  });

  test.each(['x', 1, true, []])('must be an object, not %j', (args) => {
    expect(() => inspect({ model: 'm', chat_template_kwargs: args })).toThrow('must be an object');
  });
});

describe('members that cost the operator or store data', () => {
  test.each([
    ['service_tier', 'auto', true],
    ['service_tier', 'default', true],
    ['service_tier', null, true],
    ['service_tier', 'priority', false],
    ['service_tier', 'flex', false],
    ['service_tier', { a: 1 }, false],
    ['store', false, true],
    ['store', null, true],
    ['store', true, false],
    ['store', 'false', false],
    ['metadata', { a: 'b' }, false],
    ['web_search_options', {}, false],
    ['user', 'u-1', true],
    ['safety_identifier', 'u-1', true],
    ['prompt_cache_key', 'k', true],
  ])('%s %j passes: %s', (name, value, passes) => {
    const { body, dropped } = sent({ model: 'm', [name]: value });
    expect(body).toEqual(passes ? { model: 'm', [name]: value } : { model: 'm' });
    expect(dropped).toBe(passes ? undefined : name);
  });

  test('pass if the operator lists them', () => {
    const allowed = new Set(['service_tier', 'store', 'web_search_options']);
    const body = { model: 'm', service_tier: 'flex', store: true, web_search_options: {} };
    expect(sent(body, allowed)).toEqual({ body, dropped: undefined });
  });
});

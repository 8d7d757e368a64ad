import { AppError } from '../../src/errors.js';
import { inspectBody } from '../../src/inference/request/request-body.js';
import fc from '../support/fast-check.js';

const NONE = new Set<string>();
const PADDING = ' '.repeat(70_000);
const PLACE = 'messages[0].content[0]';
const DATA = 'data:image/png;base64,AAAA';

const withParts = (...parts: unknown[]): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: parts }] });
/** A body that is parsed, and the same beyond the size of those. */
const bothSizes = (text: string): string[] => [text, text.replace('{', `{${PADDING}`)];

const inputOf = (text: string) => inspectBody(Buffer.from(text), NONE).input;

/** What the media of a body count for: images, or "any number" of tokens. */
function countOf(text: string): number | string {
  const { images, promptTokens } = inputOf(text);
  return promptTokens === Number.POSITIVE_INFINITY ? 'any number' : images;
}

function errorOf(text: string): AppError | undefined {
  try {
    inputOf(text);
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_body' });
    return error as AppError;
  }
}

function faultOf(text: string): string | undefined {
  const error = errorOf(text);
  return error && (error.options.param ?? '');
}

describe('a part of a message', () => {
  test.each([
    ['a text', { type: 'text', text: 'a' }, 0],
    ['a text with a cache mark', { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }, 0],
    ['a refusal', { type: 'refusal', refusal: 'a' }, 0],
    ['a thought', { type: 'thinking', thinking: 'a', signature: 'b' }, 0],
    ['a call of a tool', { type: 'tool_use', id: 'a', name: 'f', input: { uuid: 'a', image: 'b.png' } }, 0],
    ['nothing that is known', { foo: 1 }, 0],
    ['a text beside empty media', { type: 'text', text: 'a', image_url: null, input_audio: null }, 0],
    ['an image', { type: 'image_url', image_url: { url: DATA } }, 1],
    ['an image whose type comes last', { image_url: { url: DATA }, type: 'image_url' }, 1],
    ['an image without a type', { image_url: DATA }, 1],
    ['an image without an address', { type: 'image' }, 1],
    ['an image in Anthropic’s form', { type: 'image', source: { type: 'base64', data: 'AAAA' } }, 1],
    ['two images', { type: 'image_url', image_url: DATA, image: DATA }, 2],
    ['an image in the result of a tool', { type: 'tool_result', content: [{ type: 'image' }] }, 1],
    ['an image beside a text', { type: 'text', text: 'a', image_url: DATA }, 1],
    ['a video', { type: 'video_url', video_url: { url: DATA } }, 'any number'],
    ['a sound', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }, 'any number'],
    ['a sound without data', { type: 'input_audio' }, 'any number'],
    ['a sound without a type', { input_audio: { data: 'AAAA' } }, 'any number'],
    ['a file', { type: 'file', file: { file_data: 'AAAA' } }, 'any number'],
    ['media of an unknown kind', { model_url: DATA }, 'any number'],
    ['65 images', { type: 'text', text: 'a', all: Array(65).fill({ image_url: DATA }) }, 'any number'],
  ])('counts for its content: %s', (_what, part, count) => {
    for (const text of bothSizes(withParts(part))) expect(countOf(text)).toBe(count);
  });

  test('counts in addition to all others, in any order', () => {
    const part = fc.constantFrom<[object, number]>(
      [{ type: 'text', text: 'a' }, 0],
      [{ type: 'image_url', image_url: { url: DATA } }, 1],
      [{ image_url: { url: DATA }, type: 'image_url' }, 1],
      [{ type: 'tool_result', content: [{ type: 'image' }, { type: 'image', image: DATA }] }, 2],
      [{ image: DATA, input_image: DATA }, 2],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (list) => {
        const text = withParts(...list.map(([one]) => one));
        const count = list.reduce((sum, [, images]) => sum + images, 0);
        expect(bothSizes(text).map(countOf)).toEqual([count, count]);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['of a type of vLLM’s own', { type: 'image_pil', image_pil: null }, 'type'],
    ['of embeddings', { type: 'audio_embeds', audio_embeds: 'AAAA' }, 'type'],
    ['of a type as long as a book', { type: 'x'.repeat(10_000) }, 'type'],
    ['that names kept media', { type: 'image_url', image_url: { url: DATA }, uuid: 'a' }, 'uuid'],
    ['that names kept media and nothing else', { type: 'video_url', uuid: 'a' }, 'uuid'],
    ['that names kept media by a number', { type: 'text', text: 'a', uuid: 1 }, 'uuid'],
    ['whose image names kept media', { type: 'image_url', image_url: { uuid: 'a' } }, 'image_url.uuid'],
    ['whose name for kept media is in other letters', { type: 'text', text: 'a', UUID: 'a' }, 'UUID'],
    ['without its image', { type: 'image_url', image_url: null }, 'image_url'],
    ['without its sound', { input_audio: null, type: 'input_audio' }, 'input_audio'],
  ])('is refused with its path %s', (_what, part, where) => {
    for (const text of bothSizes(withParts(part))) expect(faultOf(text)).toBe(`${PLACE}.${where}`);
  });

  test('of an unknown type is refused with a list of the known types', () => {
    for (const text of bothSizes(withParts({ type: 'audio_embeds' }))) {
      expect(errorOf(text)?.message).toBe(
        `"${PLACE}.type" must be "text", "image_url", "input_audio", "video_url" or "file", not "audio_embeds".`,
      );
    }
  });

  test('with too many addresses is refused with the limit', () => {
    const parts = Array(2_049).fill({ type: 'image_url', image_url: DATA });
    expect(errorOf(withParts(...parts))?.message).toBe(
      '"messages[0].content[2048].image_url" is one too many: a request may have 2,048 addresses of media.',
    );
  });

  test('is found if its names are written with escapes', () => {
    const part = '{"type":"image_url","image_url":{"url":"data:,"},"\\u0075uid":"a"}';
    const body = `{"model":"m","messages":[{"role":"user","c\\u006fntent":[${part}]}]}`;
    for (const text of bothSizes(body)) expect(faultOf(text)).toBe(`${PLACE}.uuid`);
  });
});

describe('a message', () => {
  test('counts media outside of its content, but not members that are null', () => {
    const of = (message: object) => JSON.stringify({ model: 'm', messages: [message] });
    for (const text of bothSizes(of({ role: 'assistant', content: 'a', audio: { id: 'audio_1' } }))) {
      expect(countOf(text)).toBe('any number');
    }
    const empty = {
      role: 'assistant',
      content: 'a',
      audio: null,
      refusal: null,
      tool_calls: null,
      uuid: 'b',
    };
    for (const text of bothSizes(of(empty))) expect(countOf(text)).toBe(0);
  });

  test('may mention media in its text', () => {
    const text = JSON.stringify({ type: 'image_pil', uuid: 'a', image_url: 'http://10.0.0.1/' });
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: text } };
    const messages = [
      { role: 'user', content: text },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text }] },
    ];
    for (const text of bothSizes(JSON.stringify({ model: 'm', messages }))) expect(countOf(text)).toBe(0);
  });
});

test('each image in the input of embeddings counts separately', () => {
  const text = JSON.stringify({ model: 'm', input: [{ text: 'a', image: DATA }, { image: DATA }] });
  for (const one of bothSizes(text)) expect(inputOf(one).batchTokens).toBeGreaterThan(2 * 16_384);
});

/** Processor time of this thread for a body, in the best of some tries. */
function timeOf(text: string): number {
  const body = Buffer.from(text);
  const times = Array.from({ length: 7 }, () => {
    const start = process.cpuUsage();
    inspectBody(body, NONE);
    const { user, system } = process.cpuUsage(start);
    return user + system;
  });
  return Math.max(Math.min(...times), 100);
}

test.each([
  [
    'long names around many texts',
    (bytes: number) => {
      const texts = JSON.stringify(Array(Math.floor(bytes / 6)).fill(''));
      const name = 'k'.repeat(bytes / 2 / 58);
      return `{"model":"m","messages":[{"x_url":{"url":"https://example.com"}},${`{"${name}":`.repeat(58)}${texts}${'}'.repeat(58)}]}`;
    },
  ],
  [
    'one part of many types and empty media',
    (bytes: number) =>
      `{"model":"m","messages":[{"content":[{${'"type":"text","audio":null,'.repeat(bytes / 27)}"a":1}]}]}`,
  ],
])('%s take time in proportion to their bytes', (_what, make) => {
  // Four times as much takes sixteen times as long where each looks at all others.
  expect(timeOf(make(240_000)) / timeOf(make(60_000))).toBeLessThan(10);
});

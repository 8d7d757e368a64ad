import { CHAT_CHUNK } from '../../src/inference/relay/answer-forms.js';
import { ChunkCheck } from '../../src/inference/relay/chunk-check.js';
import { eventData } from '../../src/lib/upstream/sse-event.js';
import { SseSplitter } from '../../src/lib/upstream/sse-splitter.js';
import fc from '../support/fast-check.js';
import { sized } from '../support/size.js';

const SERVED = 'gateway/fast';
const CALL = '0198c0de-0000-7000-8000-000000000001';
const check = (): ChunkCheck =>
  new ChunkCheck(
    { requestId: CALL, servedModel: () => SERVED, dropped: () => undefined },
    { model: SERVED, usageAsked: true, choices: 1 },
  );

interface Verdict {
  kind: string;
  out: string;
  textBytes: number;
}
function read(by: ChunkCheck, event: Buffer): Verdict {
  const kind = by.read(event);
  return { kind, out: kind === 'chunk' ? by.out.toString('latin1') : '', textBytes: by.textBytes };
}
const data = (json: string): Buffer => Buffer.from(`data: ${json}\n\n`);

/** What a text within choices may try: to end its string, its choices or its line, or to look as if it did. */
const PIECES = [
  'a',
  'é',
  '😀',
  ' ',
  '"',
  '\\',
  '\\\\',
  '\\"',
  '\\n',
  '\\u0022',
  '\n',
  '\r',
  '\t',
  '{',
  '}',
  '[',
  ']',
];
const TAILS = [
  '"},"finish_reason":null}]}',
  '"}}]',
  '],"choices":[',
  ',"model":"node-7"',
  ',"provider":"10.0.0.1"',
];
const wild = fc
  .array(fc.constantFrom(...PIECES, ...TAILS, 'data: {}', 'id: 10.0.0.1'), { maxLength: 8 })
  .map((pieces) => pieces.join(''));
const honest = fc
  .string({ unit: 'grapheme', maxLength: 12 })
  .map((text) => JSON.stringify(text).slice(1, -1));

const BEHIND = ['', ',"usage":null', ',"provider":"10.0.0.1"', ',"model":"node-7"', ',"service_tier":null'];
/** A layout: the JSON around the text. */
const layout = fc
  .tuple(
    fc.constantFrom(SERVED, 'node-7', ''),
    fc.constantFrom('"content"', '"role":"assistant","content"', '"reasoning_content":"","content"', '"x"'),
    fc.constantFrom(...BEHIND),
    fc.constantFrom('', ',"prompt_logprobs":null', ',"kv_transfer_params":{"remote_host":"10.0.0.1"}'),
  )
  .map(([model, name, behind, before]) => (text: string) => {
    const choices = `[{"index":0,"delta":{${name}:"${text}"},"finish_reason":null}]`;
    return `{"id":"a","object":"chat.completion.chunk","model":"${model}"${before},"choices":${choices}${behind}}`;
  });

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

describe('the check of chunks', () => {
  test('gives the same result for a chunk laid out like the one before as for the first of a stream', () => {
    fc.assert(
      fc.property(
        fc.array(layout, { minLength: 1, maxLength: 2 }),
        fc.array(fc.tuple(fc.nat(1), fc.oneof(honest, wild)), { minLength: 2, maxLength: 8 }),
        (layouts, texts) => {
          const one = check();
          for (const [which, text] of texts) {
            // A text may hold the end of an event: what the splitter makes of it is what is checked.
            const bytes = data(layouts[which % layouts.length]!(text));
            new SseSplitter().push(bytes, (event) => expect(read(one, event)).toEqual(read(check(), event)));
          }
        },
      ),
      { numRuns: sized(1_500, 5_000) },
    );
  });

  test('passes the known members, the public name and the unchanged choices of valid JSON, and nothing else', () => {
    fc.assert(
      fc.property(layout, fc.array(fc.oneof(honest, wild), { minLength: 2, maxLength: 6 }), (make, texts) => {
        const one = check();
        for (const text of texts) {
          const json = make(text);
          const before = parsed(json);
          if (!before) continue;
          const verdict = read(one, data(json));
          expect(verdict.kind).toBe('chunk');
          const event = Buffer.from(verdict.out, 'latin1');
          const after = parsed(eventData(event)!.toString())!;
          expect(event.toString()).toMatch(/^data: [^\r\n]*\n\n$/);
          expect(Object.keys(after).filter((key) => !CHAT_CHUNK.has(key))).toEqual([]);
          expect(after).toMatchObject({ id: 'a', model: SERVED, choices: before.choices });
        }
      }),
      { numRuns: sized(1_500, 5_000) },
    );
  });

  test.each([
    ['a plain text', 'abc', 3],
    ['an escape', '\\n', 1],
    ['a letter of two bytes', 'é', 2],
    ['an escaped one', '\\u00e9', 2],
    ['nothing', '', 0],
  ])('counts the bytes of %s, on the first look and on the next', (_what, text, bytes) => {
    const event = data(`{"choices":[{"delta":{"content":"${text}","tool_calls":null}}]}`);
    const one = check();
    expect(read(one, event).textBytes).toBe(bytes);
    expect(read(one, event).textBytes).toBe(bytes);
  });

  test('counts thinking once if it is under two names, and the texts of all choices', () => {
    const twice = data('{"choices":[{"delta":{"reasoning":"hmmm","reasoning_content":"hmmm"}}]}');
    expect(read(check(), twice).textBytes).toBe(4);
    const both = data('{"choices":[{"delta":{"content":"abc"}},{"delta":{"content":"defg"}}]}');
    expect(read(check(), both).textBytes).toBe(7);
  });

  test.each([
    ['text', 'hello'],
    ['an array', '[]'],
    ['a broken object', '{"choices":[}'],
    ['text behind the object', '{"choices":[]}\r: node 10.0.0.1'],
  ])('reports %s as malformed', (_what, json) => {
    expect(read(check(), data(json)).kind).toBe('garbage');
  });

  test.each([
    'data: [DONE]\n\n',
    'data:[DONE] \n\n',
    'data: [DONE]\t \r\n\r\n',
    'id: 7\ndata:  [DONE]\r\r\n\n',
  ])('recognises the end of a stream: %j', (event) => {
    expect(read(check(), Buffer.from(event)).kind).toBe('done');
  });
});

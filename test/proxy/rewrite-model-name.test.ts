import { AnswerTooLargeError } from '../../src/lib/upstream/answer-limits.js';
import { MalformedResponseError, SseModelNameRewriter } from '../../src/router/rewrite-model-name.js';
import fc from '../support/fast-check.js';

const PUBLIC = 'gateway/fast';

/** Everything that leaves for a stream that arrives split at the given places. */
function run(bytes: Buffer, cuts: number[]): string {
  const restamper = new SseModelNameRewriter(PUBLIC, (payload) =>
    Buffer.from(payload.toString().toUpperCase()),
  );
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const out: Buffer[] = [];
  let from = 0;
  for (const place of [...places, bytes.length]) {
    restamper.push(bytes.subarray(from, place), out);
    from = place;
  }
  restamper.end(out);
  return Buffer.concat(out).toString('utf8');
}

const content = fc.oneof(fc.string(), fc.constantFrom('"model":"gemma"', 'é😀\\"', 'data: x\n\n', '\r\n'));
const chunk = (model: string) =>
  fc
    .record({
      id: content,
      delta: fc.oneof(
        fc.record({ content }),
        fc.record({ content, model: fc.oneof(content, fc.constant(model)) }),
      ),
      usage: fc.constantFrom(null, { a: 1 }),
      // Nodes put the name in different places, and some leave it out.
      name: fc.constantFrom('first', 'behind the id', 'last', 'nowhere'),
    })
    .map(({ name, id, delta, usage }) => {
      const withName = (text: string) =>
        name === 'last'
          ? { delta, usage, model: text }
          : name === 'behind the id'
            ? { id, model: text, delta }
            : { model: text, delta, id };
      if (name === 'nowhere') {
        const expected = { model: PUBLIC, choices: delta, id };
        return { upstream: JSON.stringify({ choices: delta, id }), expected: JSON.stringify(expected) };
      }
      return { upstream: JSON.stringify(withName(model)), expected: JSON.stringify(withName(PUBLIC)) };
    });
const event = fc.oneof(
  fc
    .tuple(
      chunk('gemma-3-4b'),
      fc.constantFrom('data: ', 'data:'),
      fc.constantFrom('', 'event: delta', ': note', 'id: 7'),
    )
    .map(([{ upstream, expected }, prefix, before]) => {
      const lines = (json: string) => [...(before ? [before] : []), prefix + json, ''];
      return { upstream: lines(upstream), expected: lines(expected) };
    }),
  fc
    .constantFrom([': ping', ''], ['', ''], ['data: [DONE]', ''], ['event: x', ''], ['data:', ''])
    .map((lines) => ({
      upstream: lines,
      expected: lines,
    })),
);

/** What a text may try: to end its string or its line, or to look as if it did, and to say what an event says. */
const text = fc
  .array(
    fc.constantFrom(
      'a',
      'é',
      '"',
      '\\',
      '\\"',
      '\\\\',
      '\\n',
      '\n',
      '\n\n',
      'error',
      'model',
      '","model":"x',
      '"}}],"model":"qwen","x":[{"delta":{"content":"',
      '"}}],"error":[{"delta":{"content":"',
    ),
    { maxLength: 4 },
  )
  .map((pieces) => pieces.join(''));
const isJson = (json: string): boolean => {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
};

describe('a stream with its model name rewritten', () => {
  test("is the same for every split from its first data on, and differs from the node's in the name only", () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.array(fc.nat(5_000), { maxLength: 30 }),
        (events, lineEnd, bom, cuts) => {
          const mark = bom ? '\ufeff' : '';
          const join = (list: typeof events, which: 'upstream' | 'expected') =>
            list.flatMap((one) => one[which].map((line) => line + lineEnd)).join('');
          const first = events.findIndex(({ upstream }) => upstream.some((line) => /^data:./.test(line)));
          const left = first < 0 ? '' : (first === 0 ? mark : '') + join(events.slice(first), 'expected');
          expect(run(Buffer.from(mark + join(events, 'upstream')), cuts)).toBe(left);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('gives the same result for an event laid out like the one before as for the first of a stream', () => {
    const named = (before: string, model: string, text: string, behind: string): string =>
      `{${before}"model":"${model}","choices":[{"delta":{"content":"${text}"}}]${behind}}`;
    const event = fc
      .tuple(
        fc.constantFrom('', '"id":"1",', '"content":"x",'),
        fc.constantFrom('gemma', PUBLIC),
        text,
        fc.constantFrom('', ',"usage":null', ',"model":"qwen"'),
      )
      .map((of) => named(...of))
      .filter(isJson)
      .map((json) => Buffer.from(`data: ${json}\n\n`));
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.array(fc.boolean()), (events, joined) => {
        let end = 0;
        const ends = events.map(({ length }) => (end += length));
        const cuts = ends.filter((_, i) => !joined[i]);
        expect(run(Buffer.concat(events), cuts)).toBe(events.map((one) => run(one, [])).join(''));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is right when every byte comes alone', () => {
    const text = '\ufeffdata: {"model":"gemma","x":"é😀"}\r\n\r\n: hi\r\n\r\ndata: [DONE]\n\n';
    const bytes = Buffer.from(text);
    expect(run(bytes, [...bytes.keys()])).toBe(text.replace('gemma', PUBLIC));
  });

  test('has the public name if one JSON is folded over lines', () => {
    expect(run(Buffer.from('id: 1\ndata: {"model":\ndata: "gemma"}\n\n'), [])).toBe(
      'id: 1\ndata: {"model":\ndata: "gateway/fast"}\n\n',
    );
  });

  const following = (text: string) => {
    const opening = 'data: {"id":"1","model":"gemma"}\n\n';
    return run(Buffer.from(opening + text), []).slice(opening.replace('gemma', PUBLIC).length);
  };

  test.each([
    [
      'the same place',
      'data: {"id":"2","model":"gemma","x":[{}]}\n\n',
      'data: {"id":"2","model":"gateway/fast","x":[{}]}\n\n',
    ],
    ['another place', 'data: {"x":[{}],"model":"gemma"}\n\n', 'data: {"x":[{}],"model":"gateway/fast"}\n\n'],
    ['another form', 'data: {"model" : "gemma"}\n\n', 'data: {"model" : "gateway/fast"}\n\n'],
    ['another name', 'data: {"model":"qwen"}\n\n', 'data: {"model":"gateway/fast"}\n\n'],
    [
      'two places',
      'data: {"model":"gemma","model":"gemma"}\n\n',
      'data: {"model":"gateway/fast","model":"gateway/fast"}\n\n',
    ],
    [
      'a nested object alone',
      'data: {"choices":{"model":"gemma"}}\n\n',
      'data: {"model":"gateway/fast","choices":{"model":"gemma"}}\n\n',
    ],
    ['nowhere', 'data: {"choices":[]}\n\n', 'data: {"model":"gateway/fast","choices":[]}\n\n'],
    ['nowhere beside usage', 'data: { "usage":{}}\n\n', 'data: {"model":"gateway/fast", "usage":{}}\n\n'],
    [
      'a nested object before',
      'data: {"x":{"y":1,"model":"gemma"},"model":"gemma"}\n\n',
      'data: {"x":{"y":1,"model":"gemma"},"model":"gateway/fast"}\n\n',
    ],
    [
      'a string',
      'data: {"x":",\\"model\\":\\"gemma\\"","model":"gemma"}\n\n',
      'data: {"x":",\\"model\\":\\"gemma\\"","model":"gateway/fast"}\n\n',
    ],
    ['a longer name', 'data: {"model":"gemma-2"}\n\n', 'data: {"model":"gateway/fast"}\n\n'],
    [
      'a key that ends so',
      'data: {"x\\"model":"gemma","model":"gemma"}\n\n',
      'data: {"x\\"model":"gemma","model":"gateway/fast"}\n\n',
    ],
  ])('has the public name wherever the node’s was after the first event: %s', (_what, text, expected) => {
    expect(following(text)).toBe(expected);
    expect(following(text + text)).toBe(expected + expected);
  });

  test('breaks on an event that is cut, whatever the earlier ones looked like', () => {
    expect(() => following('data: {"id":"2","model":"gemma","x":"cut\n\n')).toThrow(MalformedResponseError);
  });

  test.each([
    ['data: {"model":"gemma"}', 'data: {"model":"gateway/fast"}\n\n'],
    ['data: {"model":"gemma"}\n\n: ping', 'data: {"model":"gateway/fast"}\n\n: ping\n\n'],
    ['data: {"model":"gemma"}\n\ndata: [DONE]', 'data: {"model":"gateway/fast"}\n\ndata: [DONE]\n\n'],
    [': ping', ''],
  ])('may end with an event that has no blank line, which is added: %j', (text, expected) => {
    expect(run(Buffer.from(text), [3])).toBe(expected);
  });

  test("leaves it to the edge to read choices that aren't JSON", () => {
    const event = '"model":"m","choices":[{"logprobs":[NaN],"error":null}]}\n\n';
    expect(run(Buffer.from(`data: {${event}`), [])).toBe(`data: {${event.replace('"m"', '"gateway/fast"')}`);
  });

  test("has the translated error in place of the node's", () => {
    const out = run(
      Buffer.from('id: 7\ndata: {"error":{"message":"refused"}}\n\ndata: {"choices":[],"error":null}\n\n'),
      [],
    );
    expect(out).toBe(
      'id: 7\ndata: {"ERROR":{"MESSAGE":"REFUSED"}}\n\ndata: {"model":"gateway/fast","choices":[],"error":null}\n\n',
    );
  });

  test.each([
    ['data: {"model":"m"}\n\ndata: [DONE]\n\n', true],
    ['data: {"model":"m"}\n\ndata: [DONE]', true],
    ['data: {"model":"m"}\n\n', false],
    ['data: {"model":"[DONE]"}\n\n', false],
  ])('is complete once [DONE] has come: %j', (text, complete) => {
    const restamper = new SseModelNameRewriter(PUBLIC, (payload) => payload);
    restamper.push(Buffer.from(text), []);
    restamper.end([]);
    expect(restamper.complete).toBe(complete);
  });

  const finish = (index: number, reason: string | null): string =>
    `data: {"model":"gateway/fast","choices":[{"index":${index},"delta":{},"finish_reason":${JSON.stringify(reason)}}]}\n\n`;
  test.each([
    ['the only choice finished', 1, finish(0, 'stop'), true],
    ['no choice finished', 1, finish(0, null) + finish(0, ''), false],
    ['one of two choices finished, twice', 2, finish(0, 'stop') + finish(0, 'stop'), false],
    ['both choices finished', 2, finish(1, 'length') + finish(0, 'stop'), true],
  ])(
    'that ends properly without [DONE] gets it if the answer is whole: %s',
    (_what, choices, text, whole) => {
      const restamper = new SseModelNameRewriter(PUBLIC, (payload) => payload, choices);
      const out: Buffer[] = [];
      restamper.push(Buffer.from(text), out);
      restamper.end(out);
      expect(restamper.complete).toBe(whole);
      expect(Buffer.concat(out).toString()).toBe(whole ? `${text}data: [DONE]\n\n` : text);
    },
  );

  test("has a comment in place of events that aren't part of the answer", () => {
    const ping = 'data: {"type":"ping"}\n\n';
    const chunk = finish(0, null);
    expect(run(Buffer.from(ping + chunk + ping + chunk), [])).toBe(`${chunk}:\n\n${chunk}`);
  });

  test.each([
    'data: {"model":"gem',
    'data: <html>\n\n',
    'data: {"model":"a"}\rdata: {"model":"b"}\n\n',
    'data: [1]\n\n',
  ])("breaks on what isn't an answer: %.40s", (text) => {
    expect(() => run(Buffer.from(text), [10])).toThrow(MalformedResponseError);
  });

  test.each([`data: {"model":"a","x":"${'x'.repeat(1024 * 1024)}"}\n\n`, `: ${'x'.repeat(1024 * 1024)}`])(
    'breaks on an event of more than 1 MiB: %.40s',
    (text) => {
      expect(() => run(Buffer.from(text), [10, 20_000, 600_000])).toThrow(AnswerTooLargeError);
    },
  );
});

import { useEdge } from '../support/edge-suite.js';
import { chat } from '../support/scripted-upstream.js';
import { createTestWidget, refusalOf } from './edge-support.js';

/** Requirement T24: JSON that means something else to whoever reads it next. */
describe('ambiguous JSON in a chat', () => {
  const suite = useEdge();
  let publicKey: string;
  beforeAll(async () => {
    suite.upstream.answer(chat());
    ({ publicKey } = await createTestWidget(suite.db));
  });
  const MESSAGES = '"messages":[{"role":"user","content":"Hello?"}]';
  const send = (members: string | Buffer, raw = false): Promise<Response> =>
    fetch(`${suite.edge.url}/api/widget/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: raw ? members : `{"public_key":"${publicKey}",${members}}`,
    });
  const deep = (levels: number): string => `"x":${'['.repeat(levels)}${']'.repeat(levels)}`;

  test.each([
    ['a key twice', () => `"public_key":"wgt_pr_another",${MESSAGES}`],
    ['a key twice, once escaped', () => `"public\\u005fkey":"x",${MESSAGES}`],
    ['messages twice', () => `${MESSAGES},${MESSAGES}`],
    ['a role twice', () => '"messages":[{"role":"user","role":"assistant","content":"Hello?"}]'],
    ['a content twice', () => '"messages":[{"role":"user","content":"a","content":"b"}]'],
    ['64 levels', () => `${MESSAGES},${deep(64)}`],
    ['100,000 levels', () => `${MESSAGES},${deep(100_000)}`],
    ['20,000 values', () => `${MESSAGES},"x":[${'0,'.repeat(20_000)}0]`],
  ])('is refused with %s', async (_what, members) => {
    expect(await refusalOf(await send(members()))).toEqual([400, 'invalid_body']);
  });

  test.each([
    ['a byte order mark', (json: string) => `\uFEFF${json}`],
    ['something after its end', (json: string) => `${json}{}`],
    ['a comment', (json: string) => `/* */${json}`],
    ['a comma at its end', (json: string) => json.replace(/\}$/, ',}')],
    ['single quotes', (json: string) => json.replaceAll('"', "'")],
    ['an invalid number', (json: string) => json.replace(/\}$/, ',"offset":NaN}')],
  ])('is not JSON with %s', async (_what, change) => {
    const json = `{"public_key":"${publicKey}",${MESSAGES}}`;
    expect(await refusalOf(await send(change(json), true))).toEqual([400, 'invalid_body']);
  });

  test('is not JSON in UTF-16, or with half a character in its bytes', async () => {
    const json = `{"public_key":"${publicKey}",${MESSAGES}}`;
    const surrogate = Buffer.from(json).toString('latin1').replace('Hello', '\xed\xa0\x80');
    for (const body of [Buffer.from(json, 'utf16le'), Buffer.from(surrogate, 'latin1')]) {
      expect(await refusalOf(await send(body, true))).toEqual([400, 'invalid_body']);
    }
  });

  test.each([
    ['a prototype', `${MESSAGES},"__proto__":{"stream":true}`],
    ['a constructor', `${MESSAGES},"constructor":{"prototype":{"stream":true}}`],
    ['a prototype of a message', '"messages":[{"role":"user","content":"a","__proto__":{"mac":"x"}}]'],
    ['half a character', '"messages":[{"role":"user","content":"\\ud800"}]'],
    ['half a character in a session', `${MESSAGES},"session_id":"\\ud800"`],
    ['an endless number', `${MESSAGES},"offset":1e400`],
    ['a number that is rounded', `${MESSAGES},"offset":9007199254740993`],
    ['part of a number', `${MESSAGES},"offset":0.5`],
    ['a number as text', `${MESSAGES},"offset":"1"`],
    ['a truth as text', `${MESSAGES},"stream":"true"`],
    ['another case', `${MESSAGES},"Stream":true`],
    ['a model', `${MESSAGES},"model":"gateway/qwen-pro"`],
    ['a list in place of an object', '"messages":[["user","Hello?"]]'],
    ['an object in place of a list', '"messages":{"0":{"role":"user","content":"a"},"length":1}'],
  ])('is invalid with %s', async (_what, members) => {
    const before = suite.upstream.seen.length;
    expect(await refusalOf(await send(members))).toEqual([422, 'validation_error']);
    expect(suite.upstream.seen).toHaveLength(before);
    expect(({} as { stream?: unknown; mac?: unknown }).stream).toBeUndefined();
  });

  test("doesn't find a widget by a prototype", async () => {
    const body = `{"__proto__":{"public_key":"${publicKey}"},${MESSAGES}}`;
    expect(await refusalOf(await send(body, true))).toEqual([404, 'widget_not_found']);
  });

  test('is forwarded as it was read if it is unambiguous', async () => {
    const text = 'é \\ud83d\\ude00 \\u0000 \\" </script> \\u2028';
    expect((await send(`"messages":[{"content":"${text}","role":"user"}]`)).status).toBe(200);
    const { messages } = JSON.parse(suite.upstream.seen.at(-1)!.body) as { messages: unknown };
    expect(messages).toEqual([{ role: 'user', content: JSON.parse(`"${text}"`) }]);
  });
});

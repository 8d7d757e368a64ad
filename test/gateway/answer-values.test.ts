import { CHAT_CHUNK } from '../../src/inference/relay/answer-forms.js';
import { readAnswer, rebuildAnswer } from '../../src/inference/relay/answer-members.js';
import { scanMembers } from '../../src/lib/json-scan.js';
import fc from '../support/fast-check.js';

const CALL = '0198c0de-0000-7000-8000-000000000001';
const OURS = { id: `"chatcmpl-${CALL}"`, object: '"chat.completion.chunk"', created: '1755582431' };
const TOKEN = /^"[\w-]{1,64}"$/;

/** Values as bytes: JSON, and scalars that are none. */
const value = fc.oneof(
  fc.constantFrom(
    '"a-1_B"',
    '""',
    'null',
    '17',
    '0',
    '017',
    '1.5',
    '-1',
    '1e3',
    '10.0.0.1',
    'node-7',
    '[]',
    '{}',
  ),
  fc.constantFrom(
    '"10.0.0.1"',
    '"http://a/"',
    '"a b"',
    '"\\u0061"',
    '"é"',
    'nullx',
    '"chat.completion.chunk"',
  ),
  fc.json(),
);

/** The expected value of a member, by an independent rule; undefined if it is dropped. */
function expected(name: string, text: string): string | undefined {
  switch (name) {
    case 'id':
      return TOKEN.test(text) ? text : OURS.id;
    case 'object':
      return OURS.object;
    case 'created':
      return /^(?:0|[1-9]\d{0,14})$/.test(text) ? text : OURS.created;
    case 'system_fingerprint':
      return text === 'null' || TOKEN.test(text) ? text : undefined;
    case 'timings':
      return text === 'null' || /^[[{]/.test(text) ? text : undefined;
    default:
      return undefined;
  }
}

describe('the values of an answer', () => {
  test('are plain values, replaced by ours, or left out', () => {
    const name = fc.constantFrom('id', 'object', 'created', 'system_fingerprint', 'timings', 'provider');
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key }), (members) => {
        const json = Buffer.from(`{${members.map(([key, text]) => `"${key}":${text}`).join()}}`);
        const answer = readAnswer(json, scanMembers(json), CHAT_CHUNK, CALL);
        fc.pre(!answer.isError);
        const kept = members.flatMap(([key, text]) => {
          const value = expected(key, text.trim());
          return value === undefined ? [] : [`"${key}":${value}`];
        });
        expect(rebuildAnswer(json, answer, 'm').json.toString()).toBe(`{${kept.join()}}`);
      }),
      { numRuns: 1_000 },
    );
  });
});

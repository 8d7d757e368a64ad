import { signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { codesOf, operate } from './support.js';

const LIMITS = 'mutation ($i: SetApiKeyLimitsInput!) { setApiKeyLimits(input: $i) { apiKey { id } } }';

describe('faults of values and names', () => {
  const suite = usePlatform();
  let token: string;
  beforeAll(async () => {
    token = (await signUp(suite.url)).token;
  });

  test('an unknown field is quoted up to its first 200 bytes', async () => {
    const variables = { i: { id: 'x', ['y'.repeat(5_000)]: 1 } };
    const answer = await operate(suite.url, LIMITS, { token, variables });
    expect(answer.body.errors![0]!.extensions).toEqual({
      code: 'validation_error',
      details: [{ field: `${'y'.repeat(200)}…`, message: 'is not a known field' }],
    });
    expect(answer.text.length).toBeLessThan(1_000);
  });

  test("an unknown field keeps the caller's spelling", async () => {
    const variables = { i: { id: 'x', monthly_limit_usd: 1, body: 1 } };
    const { body } = await operate(suite.url, LIMITS, { token, variables });
    expect(body.errors!.flatMap(({ extensions }) => extensions.details)).toEqual([
      { field: 'monthly_limit_usd', message: 'is not a known field' },
      { field: 'body', message: 'is not a known field' },
    ]);
  });

  test.each([
    ['a field that does not exist', `{ ${'z'.repeat(5_000)} }`],
    ['an argument that does not exist', `{ viewer(${'z'.repeat(5_000)}: 1) { id } }`],
    [
      'a text where none may stand',
      `{ viewer { apiKeys(first: "${'many words '.repeat(500)}") { nodes { id } } } }`,
    ],
    ['an invalid document', `"${'z'.repeat(5_000)}"`],
    ['an operation that does not exist', `{ __typename } query ${'z'.repeat(5_000)} { __typename }`],
  ])('the message about %s is short', async (_what, document) => {
    const answer = await operate(suite.url, document, { token });
    expect(codesOf(answer)[0]).toMatch(/^(?:GRAPHQL|OPERATION)_/);
    for (const { message } of answer.body.errors!) {
      expect(message.length).toBeLessThanOrEqual(1_001);
      expect(message).not.toMatch(/z{202}/);
    }
  });

  test("more faults than graphql counts are the caller's fault, too", async () => {
    const fields = Array.from({ length: 60 }, (_, n) => [`f${n}`, n]);
    const variables = { i: { id: 'x', ...Object.fromEntries(fields) } };
    const answer = await operate(suite.url, LIMITS, { token, variables });
    expect(new Set(codesOf(answer))).toEqual(new Set(['validation_error']));
    for (const { extensions } of answer.body.errors!) expect(extensions.details).toHaveLength(1);
    expect(answer.body.errors!.at(-1)!.extensions.details).toEqual([
      { field: 'input', message: 'has more errors than are listed here' },
    ]);
  });
});

import { type GraphQLSchema, isNonNullType } from 'graphql';
import { createSchema } from '../../src/graphql/schema.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { operate } from './support.js';

describe('fields of one document', () => {
  const suite = usePlatform();

  test("a mutation that fails doesn't affect the others", async () => {
    const { token } = await signUp(suite.url);
    const answer = await operate<Record<'before' | 'after', { balanceUsd: string }>>(
      suite.url,
      `mutation {
        before: topUp(input: { amountUsd: 10 }) { balanceUsd }
        failed: createApiKey(input: { name: "" }) { key }
        after: topUp(input: { amountUsd: 25 }) { balanceUsd }
      }`,
      { token },
    );
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      before: { balanceUsd: '11.000000' },
      failed: null,
      after: { balanceUsd: '36.000000' },
    });
    expect(answer.body.errors).toEqual([
      expect.objectContaining({
        path: ['failed'],
        extensions: expect.objectContaining({ code: 'validation_error' }),
      }),
    ]);
  });

  test("a query that needs more rights doesn't affect the others", async () => {
    const { token, user } = await signUp(suite.url);
    const answer = await operate(suite.url, '{ viewer { id } users { totalCount: __typename } }', { token });
    expect(answer.body.data).toEqual({ viewer: { id: user.id }, users: null });
    expect(answer.body.errors).toMatchObject([{ path: ['users'], extensions: { code: 'forbidden' } }]);
  });

  test('every query and mutation is nullable in the schema', () => {
    const schema: GraphQLSchema = createSchema();
    const fields = [schema.getQueryType()!, schema.getMutationType()!].flatMap((type) =>
      Object.values(type.getFields()),
    );
    expect(fields.length).toBeGreaterThan(25);
    expect(fields.filter(({ type }) => isNonNullType(type)).map(({ name }) => name)).toEqual([]);
  });
});

describe('methods of /graphql', () => {
  const suite = usePlatform();

  test.each(['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is answered with 405', async (method) => {
    const answer = await call<{ error: { code: string } } | null>(suite.url, method, '/graphql?x=1', {
      ...(['PUT', 'PATCH', 'DELETE'].includes(method) && { body: { query: '{ plans { name } }' } }),
    });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST']);
    if (method !== 'HEAD') expect(answer.body?.error.code).toBe('method_not_allowed');
  });

  test("other paths below it don't exist", async () => {
    expect((await call(suite.url, 'PUT', '/graphql/')).status).toBe(404);
  });
});

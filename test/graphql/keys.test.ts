import { call, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import { codesOf, dataOf, operate } from './support.js';

const KEY = `id name keyPrefix lastFour status monthlyLimitUsd dailyLimitUsd spendTodayUsd spendMonthUsd hasUpstream
  lastUsedAt createdAt`;
const KEYS = `query ($first: Int, $after: String) { viewer { apiKeys(first: $first, after: $after) {
  totalCount nodes { ${KEY} } edges { cursor node { id } }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;

interface Key {
  id: string;
  name: string;
  keyPrefix: string;
  lastFour: string;
  createdAt: string;
}
interface Keys {
  viewer: {
    apiKeys: {
      totalCount: number;
      nodes: Key[];
      edges: { cursor: string; node: { id: string } }[];
      pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
    };
  };
}

describe('API keys', () => {
  let virtualKeys = 0;
  const removed: string[] = [];
  const suite = usePlatform({
    virtualKeys: {
      generate: async () => `sk-virtual-${virtualKeys++}`,
      remove: async (keys) => void removed.push(...keys),
    },
  });

  const create = async (token: string, name = 'mine'): Promise<{ key: string; apiKey: Key }> => {
    const query = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { key apiKey { ${KEY} owner { id } } } }`;
    const data = await dataOf<{ createApiKey: { key: string; apiKey: Key } }>(suite.url, query, {
      token,
      variables: { input: { name } },
    });
    return data.createApiKey;
  };
  const change = (token: string, mutation: string, input: Record<string, unknown>) => {
    const type = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input!`;
    const query = `mutation ($input: ${type}) { ${mutation}(input: $input) { apiKey { ${KEY} } } }`;
    return operate<Record<string, { apiKey: Record<string, unknown> }>>(suite.url, query, {
      token,
      variables: { input },
    });
  };

  test('createApiKey shows the secret once and creates the same key that REST shows', async () => {
    const { token, user } = await signUp(suite.url);
    const { key, apiKey } = await create(token, '  spaced  ');
    expect(key).toMatch(/^sk-pr-[0-9A-Za-z]{46}$/);
    expect(apiKey).toMatchObject({
      name: 'spaced',
      status: 'ACTIVE',
      monthlyLimitUsd: null,
      dailyLimitUsd: null,
      spendTodayUsd: '0.000000',
      hasUpstream: true,
      lastUsedAt: null,
      lastFour: key.slice(-4),
      owner: { id: user.id },
    });
    const rest = await call<Record<string, unknown>>(suite.url, 'GET', `/api/keys/${apiKey.id}`, { token });
    expect(rest.body).toMatchObject({
      name: 'spaced',
      key_prefix: apiKey.keyPrefix,
      created_at: apiKey.createdAt,
    });
    const { text } = await operate(suite.url, KEYS, { token, variables: { first: 10 } });
    expect(text).not.toContain(key.slice(10));
  });

  test.each(['', '   ', 'x'.repeat(101), 'two\nlines', 'n\u0000l'])(
    'createApiKey refuses the name %j',
    async (name) => {
      const { token } = await signUp(suite.url);
      const query = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { key } }';
      const answer = await operate(suite.url, query, { token, variables: { input: { name } } });
      expect(answer.body.errors![0]!.extensions).toMatchObject({
        code: 'validation_error',
        details: [{ field: 'name', message: expect.any(String) }],
      });
    },
  );

  test('renameApiKey changes only the name', async () => {
    const { token } = await signUp(suite.url);
    const { apiKey } = await create(token);
    const answer = await change(token, 'renameApiKey', { id: apiKey.id, name: 'other' });
    expect(answer.body.data!.renameApiKey!.apiKey).toEqual({ ...apiKey, name: 'other', owner: undefined });
  });

  test('setApiKeyLimits sets the given limits exactly, keeps omitted ones, and removes null ones', async () => {
    const { token } = await signUp(suite.url);
    const { apiKey } = await create(token);
    const limits = async (input: Record<string, unknown>) => {
      const answer = await change(token, 'setApiKeyLimits', { id: apiKey.id, ...input });
      const { monthlyLimitUsd, dailyLimitUsd } = answer.body.data!.setApiKeyLimits!.apiKey;
      return [monthlyLimitUsd, dailyLimitUsd];
    };
    expect(await limits({ monthlyLimitUsd: '100', dailyLimitUsd: 2.5 })).toEqual(['100.000000', '2.500000']);
    expect(await limits({ dailyLimitUsd: '0.000000000001' })).toEqual(['100.000000', '0.000000000001']);
    expect(await limits({ monthlyLimitUsd: null })).toEqual([null, '0.000000000001']);
    // More digits than a number holds.
    expect(await limits({ dailyLimitUsd: '123456.123456789012' })).toEqual([null, '123456.123456789012']);
    // Zeros at the end aren't decimals, as over REST.
    expect(await limits({ dailyLimitUsd: '5.0000000000000' })).toEqual([null, '5.000000']);
    expect(await limits({ dailyLimitUsd: '0' })).toEqual([null, '0.000000']);
  });

  test.each([
    ['a negative', { dailyLimitUsd: '-1' }, 'dailyLimitUsd'],
    ['more than a million', { monthlyLimitUsd: '1000000.01' }, 'monthlyLimitUsd'],
    ['thirteen decimals in a text', { dailyLimitUsd: '0.0000000000001' }, 'dailyLimitUsd'],
    ['thirteen decimals', { dailyLimitUsd: 1e-13 }, 'dailyLimitUsd'],
    ['a text that is no number', { dailyLimitUsd: '1e3' }, 'dailyLimitUsd'],
    ['a list', { dailyLimitUsd: [1] }, 'dailyLimitUsd'],
  ])('setApiKeyLimits refuses %s with its field', async (_what, limits, field) => {
    const { token } = await signUp(suite.url);
    const { apiKey } = await create(token);
    const answer = await change(token, 'setApiKeyLimits', { id: apiKey.id, ...limits });
    const { code, details } = answer.body.errors![0]!.extensions;
    expect([code, details?.map((detail) => detail.field)]).toEqual(['validation_error', [field]]);
  });

  test('setApiKeyLimits without a limit is refused as an empty change', async () => {
    const { token } = await signUp(suite.url);
    const { apiKey } = await create(token);
    expect(codesOf(await change(token, 'setApiKeyLimits', { id: apiKey.id }))).toEqual(['validation_error']);
  });

  test('disableApiKey and enableApiKey change its status', async () => {
    const { token } = await signUp(suite.url);
    const { apiKey } = await create(token);
    const off = await change(token, 'disableApiKey', { id: apiKey.id });
    expect(off.body.data!.disableApiKey!.apiKey.status).toBe('DISABLED');
    const on = await change(token, 'enableApiKey', { id: apiKey.id });
    expect(on.body.data!.enableApiKey!.apiKey.status).toBe('ACTIVE');
  });

  test('deleteApiKey deletes the key and its virtual key', async () => {
    const { token } = await signUp(suite.url);
    const { apiKey } = await create(token);
    const query = 'mutation ($input: DeleteApiKeyInput!) { deleteApiKey(input: $input) { deletedApiKeyId } }';
    const variables = { input: { id: apiKey.id } };
    const before = removed.length;
    expect(await dataOf(suite.url, query, { token, variables })).toEqual({
      deleteApiKey: { deletedApiKeyId: apiKey.id },
    });
    expect(removed).toHaveLength(before + 1);
    expect(codesOf(await operate(suite.url, query, { token, variables }))).toEqual(['not_found']);
    const one = await operate(suite.url, `{ viewer { apiKey(id: "${apiKey.id}") { id } } }`, { token });
    expect(one.body).toMatchObject({ data: { viewer: { apiKey: null } } });
    expect(codesOf(one)).toEqual(['not_found']);
  });

  test('apiKeys pages by cursor: newest first, each once, although keys are created in the meantime', async () => {
    const { token } = await signUp(suite.url);
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.unshift((await create(token, `key ${n}`)).apiKey.id);
    const seen: string[] = [];
    let after: string | undefined;
    for (let page = 0; ; page++) {
      const { viewer } = await dataOf<Keys>(suite.url, KEYS, { token, variables: { first: 3, after } });
      const { edges, nodes, pageInfo, totalCount } = viewer.apiKeys;
      expect(nodes.map(({ id }) => id)).toEqual(edges.map(({ node }) => node.id));
      expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]!.cursor, edges.at(-1)!.cursor]);
      expect([totalCount, pageInfo.hasPreviousPage]).toEqual([7 + page, page > 0]);
      seen.push(...nodes.map(({ id }) => id));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
      await create(token, 'meanwhile');
    }
    expect(seen).toEqual(ids);
    const nothing = await dataOf<Keys>(suite.url, KEYS, {
      token: (await signUp(suite.url)).token,
      variables: { first: 1 },
    });
    expect(nothing.viewer.apiKeys).toEqual({
      totalCount: 0,
      nodes: [],
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  test.each([
    [{ first: 0 }, 'first'],
    [{ first: 101 }, 'first'],
    [{ first: -1 }, 'first'],
    [{ first: 1, after: 'nonsense' }, 'after'],
    [{ first: 1, after: Buffer.from('1.no-uuid').toString('base64url') }, 'after'],
    [{ first: 1, after: 'x'.repeat(200) }, 'after'],
    [{ first: 1, after: '' }, 'after'],
  ])('apiKeys refuses %j with its field', async (variables, field) => {
    const { token } = await signUp(suite.url);
    const answer = await operate(suite.url, KEYS, { token, variables });
    const { code, details } = answer.body.errors![0]!.extensions;
    expect([code, details?.map((detail) => detail.field)]).toEqual(['validation_error', [field]]);
  });

  test('usageByDay returns the spend of each day, including days without calls', async () => {
    const { token, user } = await signUp(suite.url);
    const { keyId } = await createTestKey(suite.db, { accountId: user.id });
    await suite.db.pool.query(
      `insert into key_spend_days (key_id, day, spend) select $1, (now() at time zone 'UTC')::date - n, n + 0.5
       from unnest(array[0, 2, 6, 7]) n`,
      [keyId],
    );
    const query = `{ viewer { apiKey(id: "${keyId}") {
      week: usageByDay(days: 7) { date costUsd } today: usageByDay(days: 1) { costUsd } } } }`;
    const data = await dataOf<{
      viewer: { apiKey: { week: { costUsd: string }[]; today: { costUsd: string }[] } };
    }>(suite.url, query, { token });
    const { week, today } = data.viewer.apiKey;
    expect(week.map(({ costUsd }) => costUsd)).toEqual([
      '6.500000',
      '0.000000',
      '0.000000',
      '0.000000',
      '2.500000',
      '0.000000',
      '0.500000',
    ]);
    expect(today).toEqual([{ costUsd: '0.500000' }]);
    const tooMany = await operate(
      suite.url,
      `{ viewer { apiKey(id: "${keyId}") { usageByDay(days: 91) { date } } } }`,
      { token },
    );
    expect(codesOf(tooMany)).toEqual(['validation_error']);
  });
});

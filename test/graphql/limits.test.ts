import {
  type GraphQLObjectType,
  getIntrospectionQuery,
  getNamedType,
  getOperationAST,
  isLeafType,
  isRequiredArgument,
  parse,
} from 'graphql';
import { checkOperation, LIMITS } from '../../src/graphql/limits.js';
import { createSchema } from '../../src/graphql/schema.js';
import { loadWebBuild } from '../../src/pages/web-build.js';
import { call, escapedJson, PASSWORD, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { codesOf, follow, type GraphqlAnswer, type GraphqlError, operate, socketClient } from './support.js';

const INVALID = 'GRAPHQL_VALIDATION_FAILED';
const nested = (depth: number): string => {
  // viewer, apiKeys, nodes … and back again, as deep as is wanted.
  const cycle = ['viewer', 'usageEvents(first: 1)', 'nodes', 'apiKey', 'owner', 'plan', 'name'];
  return `{ ${cycle.slice(0, depth).join(' { ')} ${'}'.repeat(Math.min(depth, cycle.length))}`;
};
const repeat = (count: number, part: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ');

/** Documents beyond a limit, and their errors. */
const TOO_MUCH: [string, string, RegExp][] = [
  ['aliases', `{ ${repeat(16, (n) => `a${n}: plans { name }`)} }`, /Aliases limit of 15 exceeded, found 16/],
  [
    'aliases within fragments',
    `{ ...f ...g } fragment f on Query { ${repeat(8, (n) => `a${n}: plans { name }`)} }
     fragment g on Query { ${repeat(8, (n) => `b${n}: plans { name }`)} }`,
    /Aliases limit/,
  ],
  ['tokens', `{ ${repeat(1_001, () => 'plans { name }')} }`, /more th?a[nt] 2000 tokens/],
  [
    'directives',
    `{ plans { name ${'@skip(if: false) '.repeat(700)} } }`,
    /more th?a[nt] 2000 tokens|can only be used once/,
  ],
  [
    'cost',
    `{ viewer { apiKeys(first: 100) { nodes { usageByDay(days: 90) { date costUsd }
       owner { id email name role status createdAt planId balanceUsd plan { name } } } } } }`,
    /costs \d+; the maximum is 10000/,
  ],
  [
    'cost of pages of which only the position is asked for',
    '{ viewer { apiKeys(first: 100) { nodes { alertEvents(first: 100) { pageInfo { hasNextPage } } } } } }',
    /costs \d+; the maximum is 10000/,
  ],
  [
    'cost of lists that aren’t bounded by the caller',
    `{ ${repeat(15, (n) => `a${n}: viewer { usageEvents(first: 100) { nodes { ${repeat(18, () => 'id costUsd')} } } }`)} }`,
    /the maximum is 10000/,
  ],
  [
    'fragments in fragments, 2^40 fields',
    `{ viewer { ...f0 } } ${repeat(40, (n) => `fragment f${n} on Viewer { ...f${n + 1} ...f${n + 1} }`)} fragment f40 on Viewer { id }`,
    /number of nodes/,
  ],
  [
    'proofs of identity in fragments, 2^40 of them',
    `mutation { ...f0 } ${repeat(40, (n) => `fragment f${n} on Mutation { ...f${n + 1} ...f${n + 1} }`)}
     fragment f40 on Mutation { logout { success } }`,
    /number of nodes/,
  ],
  [
    'a cycle of fragments',
    '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }',
    /Cannot spread fragment/,
  ],
  [
    'a subscription that can’t be validated',
    'subscription ($v: Boolean!) { usageRecorded @skip(if: $v) { id } usageRecorded @skip(if: $v) { id } }',
    /Argument "if"/,
  ],
  ['an unknown field', '{ viewer { passwordHash } }', /Cannot query field "passwordHash"/],
  [
    'two tries to log in',
    `mutation { a: login(input: { email: "a@b.example", password: "x" }) { accessToken }
                b: login(input: { email: "a@b.example", password: "y" }) { accessToken } }`,
    /at most one mutation that takes a password/,
  ],
  [
    'tries to log in, hidden in fragments',
    `mutation { ...f ... on Mutation { signup(input: { email: "a@b.example", password: "x", name: "a" }) { expiresIn } } }
     fragment f on Mutation { login(input: { email: "a@b.example", password: "x" }) { accessToken } }`,
    /at most one mutation that takes a password/,
  ],
];

describe('limits of GraphQL', () => {
  const suite = usePlatform();
  const closed = usePlatform({ env: { GRAPHQL_INTROSPECTION: '0' } });
  let token: string;
  beforeAll(async () => {
    token = (await signUp(suite.url)).token;
  });

  test.each(TOO_MUCH)('HTTP refuses %s and runs nothing', async (_what, document, message) => {
    const answer = await operate(suite.url, document, { token });
    expect([answer.status, answer.body.data]).toEqual([400, undefined]);
    for (const error of answer.body.errors!) {
      expect(['GRAPHQL_PARSE_FAILED', INVALID]).toContain(error.extensions.code);
      expect(error.message).not.toMatch(/\n|node_modules/);
    }
    expect(answer.body.errors!.map((error) => error.message).join('\n')).toMatch(message);
  });

  test.each(TOO_MUCH)('WebSocket refuses %s with the same messages', async (_what, document, message) => {
    const client = socketClient(suite.url, { token });
    const followed = follow(client, document);
    await until(() => followed.ended, { what: 'an answer' });
    const overHttp = await operate(suite.url, document, { token });
    expect(followed.results).toEqual([]);
    expect(followed.error).toEqual(overHttp.body.errors);
    expect((followed.error as GraphqlError[]).map((error) => error.message).join('\n')).toMatch(message);
    await client.dispose();
  });

  test('a search through usage costs what it may have to read, the usage of one key what it returns', async () => {
    const search = (filter: string, aliases: number) =>
      operate(
        suite.url,
        `{ viewer { ${repeat(aliases, (n) => `a${n}: usageEvents(first: 1, filter: { ${filter} }) { nodes { id } }`)} } }`,
        { token },
      );
    const KEY = 'keyId: "01900000-0000-7000-8000-000000000000"';
    expect(codesOf(await search(KEY, 15))).toEqual([]);
    expect(codesOf(await search('windowDays: 90', 15))).toEqual([]);
    expect(codesOf(await search('status: ERROR, windowDays: 7', 15))).toEqual([]);
    expect(codesOf(await search('model: "gateway/fast"', 5))).toEqual([]);
    for (const filter of [
      'status: ERROR',
      `model: "gateway/fast", windowDays: 90`,
      `status: SUCCESS, ${KEY}`,
    ]) {
      const refused = await search(filter, 15);
      expect(refused.body.errors![0]!.message).toMatch(/the maximum is 10000/);
    }
  });

  /** Every field that needs no argument, `levels` deep; entries of connections as edges where they are wanted so. */
  const everything = (type: GraphQLObjectType, levels: number, asEdges: boolean): string => {
    const fields = Object.values(type.getFields()).map(({ name, type, args }) => {
      const named = getNamedType(type);
      if (args.some(isRequiredArgument)) return '';
      if (isLeafType(named)) return name;
      if (name === 'nodes' && asEdges)
        return `edges { cursor node ${everything(named as GraphQLObjectType, levels - 1, asEdges)} }`;
      const isTwice = name === 'edges' && asEdges;
      const inside = levels > 1 && !isTwice && everything(named as GraphQLObjectType, levels - 1, asEdges);
      return inside ? `${name} ${inside}` : '';
    });
    const asked = fields.filter(Boolean).join(' ');
    return asked && `{ ${asked} }`;
  };

  test.each([
    ['nodes', false],
    ['edges', true],
  ])(
    'everything that an account has, three levels deep in lists of default length as %s, fits',
    async (_as, edges) => {
      const query = `{ viewer ${everything(createSchema().getType('Viewer') as GraphQLObjectType, 3, edges)} }`;
      for (const list of ['playgroundSessions', 'usageEvents', 'widgets'])
        expect(query).toContain(`${list} {`);
      const answer = await operate(suite.url, query, { token });
      expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
    },
  );

  test('a list has 20 entries by default, and up to the maximum on request', async () => {
    const viewer = createSchema().getType('Viewer') as GraphQLObjectType;
    const sizes = Object.values(viewer.getFields()).flatMap(({ name, args }) =>
      args.filter((one) => one.name === 'first').map(({ defaultValue }) => [name, defaultValue]),
    );
    expect(sizes.map(([, size]) => size)).toEqual(sizes.map(() => 20));
    expect(sizes.length).toBeGreaterThanOrEqual(7);
    const ask = (list: string, first: number) =>
      operate(suite.url, `{ viewer { ${list}(first: ${first}) { id } } }`, { token });
    for (const [list, most] of [
      ['widgets', 50],
      ['playgroundSessions', 200],
    ] as const) {
      expect(codesOf(await ask(list, most))).toEqual([]);
      expect(codesOf(await ask(list, most + 1))).toEqual(['validation_error']);
      expect(codesOf(await ask(list, 0))).toEqual(['validation_error']);
    }
  });

  test('fields that a page has once count once', async () => {
    const page = (fields: string) => costOf(`usageEvents(first: 100) { ${fields} }`);
    const least = await page('edges { cursor }');
    const position = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
    const totals = repeat(5, (n) => `a${n}: totals { calls costUsd }`);
    expect(await page(`edges { cursor } ${position} ${totals}`)).toBe(least);
    expect(await page('totals { calls }')).toBeGreaterThanOrEqual(100);
  });

  test('public fields about the models cost what they return', async () => {
    const days = 'models { days { date requests successRate p95LatencyMs } }';
    const hours = 'hourlyBreakdown { hour requests errors p50LatencyMs p95LatencyMs tokensIn tokensOut }';
    const STATUS = (n: number) => `a${n}: status { ${days} }`;
    const MODEL = (n: number) => `a${n}: leaderboardModel(name: "fast") { ${hours} }`;
    for (const [field, most] of [
      [STATUS, 3],
      [MODEL, 8],
    ] as const) {
      expect(codesOf(await operate(suite.url, `{ ${repeat(most, field)} }`))).toEqual([]);
      const refused = await operate(suite.url, `{ ${repeat(most + 1, field)} }`);
      expect(refused.body.errors![0]!.message).toMatch(/the maximum is 10000/);
    }
  });

  test.each([
    ['a comparison', 'promptChanged { prompt { diff(from: 1, to: 2) { content { text } } } }'],
    ['a render', 'promptChanged { prompt { rendered { versionUsed } } }'],
    [
      'a long text again and again',
      `promptChanged { prompt { activeVersion { ${repeat(4, (n) => `a${n}: content`)} } } }`,
    ],
    [
      'the text of a run again and again',
      `playgroundRun(sessionId: "x") { ${repeat(4, (n) => `a${n}: delta`)} }`,
    ],
    ['a page of versions', 'promptChanged { prompt { versions { nodes { content } } } }'],
    ['analytics', 'usageRecorded { apiKey { analytics(windowDays: 1) { totalRequests } } }'],
    [
      'the position of a long list',
      'usageRecorded { apiKey { alertEvents(first: 100) { pageInfo { hasNextPage } } } }',
    ],
    ['a list of keys', 'usageRecorded { apiKey { alertEvents(first: 50) { nodes { id firedAt } } } }'],
  ])(
    "a subscription with %s in each event is refused: events don't count toward the rate",
    async (_what, field) => {
      const client = socketClient(suite.url, { token });
      const followed = follow(client, `subscription { ${field} }`);
      await until(() => followed.ended, { what: 'the refusal' });
      expect(followed.error).toEqual([
        expect.objectContaining({
          message: expect.stringMatching(/^Each event of the subscription costs \d+; the maximum is 100\./),
          extensions: { code: INVALID },
        }),
      ]);
      await client.dispose();
    },
  );

  test('every subscription of the pages leaves a quarter of that unused', () => {
    const schema = createSchema();
    const documents = [...loadWebBuild()!.documents.values()]
      .map((text) => parse(text))
      .filter((document) => getOperationAST(document)?.operation === 'subscription');
    expect(documents.length).toBeGreaterThanOrEqual(6);
    for (const document of documents) {
      const operation = getOperationAST(document)!;
      const { cost } = checkOperation({ schema, document, operation, variables: { sessionId: 'x' } });
      expect(cost).toBeGreaterThan(0);
      expect(cost).toBeLessThanOrEqual(0.75 * LIMITS.eventCost);
    }
  });

  /** What fields cost: the document around them is refused with its cost. */
  const costOf = async (ofViewer: string, ofQuery = ''): Promise<number> => {
    const costs = [];
    for (const [inside, beside] of [
      ['', ''],
      [ofViewer, ofQuery],
    ]) {
      const { body } = await operate(
        suite.url,
        `{ viewer { apiKeys(first: 100) { nodes { usageByDay(days: 90) { date costUsd } } } ${inside} } ${beside} }`,
        { token },
      );
      costs.push(Number(/costs (\d+);/.exec(body.errors![0]!.message)![1]));
    }
    return costs[1]! - costs[0]!;
  };

  test.each([
    'balanceOutlook { state }',
    'statement(month: "2026-11") { chargesUsd }',
    'analytics(windowDays: 1) { totalRequests }',
    'usageSeries(windowDays: 1) { requests }',
  ])('%s counts as a separate read: over REST it is a heavy one', async (field) => {
    expect(await costOf(field)).toBeGreaterThanOrEqual(500);
  });

  test('full texts cost what decrypting and returning them takes, even for strangers', async () => {
    expect(await costOf('playgroundSession(id: "x") { id }')).toBeGreaterThanOrEqual(500);
    expect(await costOf('', 'sharedPlaygroundSession(slug: "x") { prompt }')).toBeGreaterThanOrEqual(500);
    expect(await costOf('prompt(id: "x") { activeVersion { content } }')).toBeGreaterThanOrEqual(50);
  });

  const VERSION = (field: string) => `prompt(id: "x") { activeVersion { ${field} } }`;
  const SESSION = (field: string) => `playgroundSession(id: "x") { ${field} }`;
  const WIDGET = (field: string) => `widget(id: "00000000-0000-7000-8000-000000000000") { ${field} }`;
  test.each<[string, string, (field: string) => string]>([
    ['the content of a version', 'content', VERSION],
    ['the defaults of its variables', 'default', (field) => VERSION(`variables { ${field} }`)],
    ['their descriptions', 'description', (field) => VERSION(`variables { ${field} }`)],
    ['the names in its warnings', 'name', (field) => VERSION(`warnings { ${field} }`)],
    ['the texts of its warnings', 'message', (field) => VERSION(`warnings { ${field} }`)],
    ['a comparison', 'text', (field) => `prompt(id: "x") { diff(from: 1, to: 2) { content { ${field} } } }`],
    [
      'the names that a render has no use for',
      'unusedVariables',
      (field) => `prompt(id: "x") { rendered { ${field} } }`,
    ],
    ['a prompt of the playground', 'prompt', SESSION],
    ['a system prompt of the playground', 'systemPrompt', SESSION],
    ['the answers of a session', 'responseContent', (field) => SESSION(`runs { ${field} }`)],
    ['the beginnings of prompts in a list', 'prompt', (field) => `playgroundSessions { ${field} }`],
    ['the system prompt of a widget', 'systemPrompt', WIDGET],
    ['the domains of a widget', 'allowedDomains', WIDGET],
    [
      'the sites of a widget',
      'site',
      (field) => `widgetUsage(id: "00000000-0000-7000-8000-000000000000") { sites { ${field} } }`,
    ],
  ])('%s cost 25 more for each alias', async (_what, field, within) => {
    const [once, twice] = [
      await costOf(within(`a: ${field}`)),
      await costOf(within(`a: ${field} b: ${field}`)),
    ];
    expect(twice - once).toBeGreaterThanOrEqual(25);
  });

  test('the texts of a shared session cost the same', async () => {
    const reported = (fields: string) => costOf('', `sharedPlaygroundSession(slug: "x") { ${fields} }`);
    const least = await reported('createdAt');
    for (const field of ['prompt', 'systemPrompt', 'runs { responseContent }'])
      expect((await reported(`createdAt ${field}`)) - least).toBeGreaterThanOrEqual(25);
  });

  test('all shared sessions can be listed with the beginnings of their texts', async () => {
    const document =
      '{ viewer { playgroundSessions(shared: true, first: 200) { id prompt systemPrompt runs { responseContent } } } }';
    expect(codesOf(await operate(suite.url, document, { token }))).toEqual([]);
  });

  test('a series of usage costs what it returns: a quarter of a year by day, and over a week by hour', async () => {
    const point = '{ start modelPublicName requests errors tokensIn tokensOut costUsd }';
    const series = (args: string) =>
      operate(suite.url, `{ viewer { usageSeries(${args}) ${point} } }`, { token });
    for (const args of ['windowDays: 90', 'windowDays: 8, unit: HOUR'])
      expect([args, codesOf(await series(args))]).toEqual([args, []]);
    for (const args of ['windowDays: 30, unit: HOUR', 'windowDays: 90, unit: HOUR'])
      expect((await series(args)).body.errors![0]!.message).toMatch(/the maximum is 10000/);
    expect(
      codesOf(
        await operate(
          suite.url,
          `{ viewer { ${repeat(3, (n) => `a${n}: usageSeries(windowDays: 90) ${point}`)} } }`,
          { token },
        ),
      ),
    ).toEqual([INVALID]);
  });

  test('an invalid argument hides no cost: the rest of the document would run', async () => {
    const query = `query ($days: Int) { viewer {
      apiKeys(first: 1) { nodes { usageByDay(days: $days) { date } } }
      more: apiKeys(first: 100) { nodes { usageByDay(days: 90) { date costUsd } } } } }`;
    const answer = await operate(suite.url, query, { token, variables: { days: null } });
    expect([answer.status, codesOf(answer)]).toEqual([400, [INVALID]]);
    expect(answer.body.errors![0]!.message).toMatch(/Argument "days"/);
  });

  test.each([
    ['unknown fields', 'signup(input: $input) { user { id } }', 'SignupInput', {}],
    [
      'unknown fields of a stranger',
      'migrationEstimate(input: $input) { __typename }',
      'MigrationEstimateInput',
      {},
    ],
  ])(
    'variables with too many %s are refused before any of them is checked',
    async (_what, field, type, input) => {
      const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`f${n}`, 0]));
      const kind = field.startsWith('signup') ? 'mutation' : 'query';
      const answer = await operate(suite.url, `${kind}($input: ${type}!) { ${field} }`, {
        variables: { input: { ...input, ...many } },
      });
      expect(codesOf(answer)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
      // Judged one by one they take minutes, and all memory.
      expect(answer.text).toContain('more than 2000 fields');
    },
  );

  test('2,000 of them are checked, and fifty faults reported', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_990 }, (_, n) => [`f${n}`, 0]));
    const answer = await operate(
      suite.url,
      'mutation($input: SignupInput!) { signup(input: $input) { user { id } } }',
      {
        variables: { input: many },
      },
    );
    expect(new Set(codesOf(answer))).toEqual(new Set(['validation_error']));
    expect(codesOf(answer).length).toBeLessThanOrEqual(51);
  });

  test('a document may be 12 fields deep, fragments apart', async () => {
    expect(codesOf(await operate(suite.url, nested(7), { token }))).toEqual([]);
    const introspection = (depth: number) =>
      `{ __type(name: "Query") { fields { type ${'{ ofType '.repeat(depth)} { name } ${'}'.repeat(depth)} } } }`;
    expect(codesOf(await operate(suite.url, introspection(9), { token }))).toEqual([]);
    const backAndForth = (times: number): string => {
      const there = 'alertEvents(first: 1) { nodes { apiKey { ';
      return `{ viewer { apiKeys(first: 1) { nodes { ${there.repeat(times)} name ${'} } } '.repeat(times)} } } } }`;
    };
    expect(codesOf(await operate(suite.url, backAndForth(2), { token }))).toEqual([]);
    const tooDeep = await operate(suite.url, backAndForth(3), { token });
    expect(tooDeep.body.errors![0]!.message).toBe('Query depth limit of 12 exceeded, found 13.');
    const deepTypes = await operate(suite.url, introspection(17), { token });
    expect(deepTypes.body.errors![0]!.message).toBe('Query depth limit of 20 exceeded, found 21.');
  });

  test("the introspection of tools is accepted, a deeper one than 20 isn't", async () => {
    const answer = await operate(suite.url, getIntrospectionQuery(), { token });
    expect(codesOf(answer)).toEqual([]);
    const deep = `{ __schema { types { fields { type ${'{ ofType '.repeat(17)} { name } ${'}'.repeat(17)} } } } }`;
    const refused = await operate(suite.url, deep, { token });
    expect(refused.body.errors![0]!.message).toMatch(/Query depth limit of 20 exceeded/);
  });

  test('without introspection, neither it nor suggestions reveal names, over both transports', async () => {
    const misspelt = '{ viewer { balanceUs apiKeyz { nodes { id } } } plan { name } }';
    const shown = await operate(suite.url, misspelt, { token });
    expect(shown.text).toContain('Did you mean');
    for (const document of [
      '{ __schema { types { name } } }',
      '{ __type(name: "Viewer") { name } }',
      misspelt,
    ]) {
      const hidden = await operate(closed.url, document, { token });
      expect(new Set(codesOf(hidden))).toEqual(new Set([INVALID]));
      expect(hidden.text).not.toMatch(/Did you mean|balanceUsd|apiKeys|plans/);
      const client = socketClient(closed.url, { token });
      const followed = follow(client, document);
      await until(() => followed.ended);
      expect(followed.error).toEqual(hidden.body.errors);
      await client.dispose();
    }
    const badEnum = await operate(
      closed.url,
      'mutation ($i: SetUserRoleInput!) { setUserRole(input: $i) { user { id } } }',
      {
        token,
        variables: { i: { id: 'x', role: 'ADMINN' } },
      },
    );
    expect(badEnum.text).not.toMatch(/Did you mean|"ADMIN"/);
    expect(codesOf(await operate(closed.url, '{ __typename }'))).toEqual([]);
  });

  const post = (body: unknown, headers: Record<string, string> = {}) =>
    call<GraphqlAnswer>(suite.url, 'POST', '/graphql', { body, headers, token });

  test('a batch is refused as a whole', async () => {
    const answer = await post([{ query: '{ plans { name } }' }, { query: '{ plans { name } }' }]);
    expect([answer.status, codesOf(answer)]).toEqual([400, ['invalid_body']]);
    expect(codesOf(await post([]))).toEqual(['invalid_body']);
  });

  test.each([
    ['nothing', {}],
    ['no text', { query: 5 }],
    ['an empty text', { query: '' }],
    ['variables in a text', { query: '{ plans { name } }', variables: '{}' }],
    ['variables in a list', { query: '{ plans { name } }', variables: [] }],
    ['an operation that is no text', { query: '{ plans { name } }', operationName: {} }],
    ['null', null],
    ['a text', 'query'],
  ])('a body with %s is invalid_body', async (_what, body) => {
    const answer = await post(body);
    expect([answer.status, codesOf(answer)]).toEqual([400, ['invalid_body']]);
  });

  test('a body beyond 768 KiB is body_too_large; one just below is read', async () => {
    const padded = (bytes: number) => {
      const query = '{ plans { name } }';
      return {
        query,
        variables: { x: 'x'.repeat(bytes - JSON.stringify({ query, variables: { x: '' } }).length) },
      };
    };
    expect(codesOf(await post(padded(768 * 1024)))).toEqual([]);
    const answer = await post(padded(768 * 1024 + 1));
    expect([answer.status, codesOf(answer)]).toEqual([413, ['body_too_large']]);
  });

  test('the longest texts of the playground fit, whatever they are written in', async () => {
    const text = '\u{1f600}'.repeat(50_000);
    const query =
      'mutation ($input: RunPlaygroundInput!) { runPlayground(input: $input) { session { id } } }';
    const answer = await post({
      query,
      variables: { input: { prompt: text, systemPrompt: text, models: ['x'] } },
    });
    // Read, and refused for another reason: there is no such model.
    expect(codesOf(answer)).toEqual(['model_not_allowed']);
    const chinese = '\u4e2d'.repeat(50_000);
    const escaped = escapedJson({
      query,
      variables: { input: { prompt: chinese, systemPrompt: chinese, models: ['x'] } },
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${suite.url}/graphql`, { method: 'POST', headers, body: escaped });
    expect(await response.text()).toContain('model_not_allowed');
  });

  test.each(['text/html', '1e400', 'application/graphql-response+json'])(
    'a client that prefers %s is answered in JSON',
    async (accept) => {
      const answer = await post({ query: '{ plans { name } }' }, { accept });
      expect(answer.status).toBe(200);
      expect(answer.body.data).toMatchObject({ plans: expect.arrayContaining([{ name: 'free' }]) });
    },
  );

  test.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/graphql',
  ])("a body of type %s is unsupported_media_type: forms of other sites can't send one", async (type) => {
    const answer = await post({ query: '{ plans { name } }' }, { 'content-type': type });
    expect([answer.status, codesOf(answer)]).toEqual([415, ['unsupported_media_type']]);
  });

  const get = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    call<GraphqlAnswer>(suite.url, 'GET', `/graphql?${new URLSearchParams(fields)}`, { headers });
  const bearer = () => ({ authorization: `Bearer ${token}` });

  test("a query by GET is answered, with and without a token, and isn't cached on the way", async () => {
    const plans = await get({ query: '{ plans { name } }' });
    expect(plans.body).toEqual({ data: { plans: expect.arrayContaining([{ name: 'free' }]) } });
    expect([plans.status, plans.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const named = {
      query:
        'query A { plans { name } } query B($first: Int!) { viewer { usageEvents(first: $first) { nodes { id } } } }',
      operationName: 'B',
      variables: '{"first":1}',
    };
    const { body } = await get(named, { ...bearer(), cookie: `pr_session=${token}` });
    expect(body).toEqual({ data: { viewer: { usageEvents: { nodes: [] } } } });
    expect((await get(named)).body.data).toEqual({ viewer: null });
  });

  test('the same limits apply to GET', async () => {
    const deep = await get({ query: `{ ${repeat(16, (n) => `a${n}: plans { name }`)} }` }, bearer());
    expect(codesOf(deep)).toEqual([INVALID]);
  });

  test.each([
    ['a mutation', 'mutation { logout { success } }'],
    ['a subscription', 'subscription { usageRecorded { id } }'],
    ['no query', ''],
  ])('by GET %s is refused', async (_what, query) => {
    const answer = await get(query ? { query } : {}, bearer());
    expect([answer.status, answer.headers.get('allow'), codesOf(answer)]).toEqual([
      405,
      'POST',
      ['method_not_allowed'],
    ]);
    expect(answer.body.errors![0]!.message).toMatch(/by POST/);
    expect((await get({ query: '{ viewer { email } }' }, bearer())).body.data).toBeTruthy();
  });

  test.each(['{ viewer { email } }', '{ plans { name } }'])(
    'with the session cookie, nothing is answered by GET: %s',
    async (query) => {
      const answer = await get(
        { query },
        { cookie: `pr_session=${token}`, 'apollo-require-preflight': 'true' },
      );
      expect([answer.status, codesOf(answer)]).toEqual([405, ['method_not_allowed']]);
      expect(answer.body.data).toBeUndefined();
    },
  );

  test('a persisted query is refused as unsupported', async () => {
    const answer = await post({ extensions: { persistedQuery: { version: 1, sha256Hash: 'x' } } });
    expect(codesOf(answer)).toEqual(['PERSISTED_QUERY_NOT_SUPPORTED']);
  });

  test('a subscription over HTTP is refused and says where it runs', async () => {
    const answer = await operate(suite.url, 'subscription { usageRecorded { id } }', { token });
    expect([answer.status, codesOf(answer)]).toEqual([400, ['OPERATION_RESOLUTION_FAILURE']]);
    expect(answer.body.errors![0]!.message).toMatch(/over WebSocket.*graphql-transport-ws/);
  });

  test('a document with several operations runs the named one, and none without a name', async () => {
    const query = 'query A { plans { name } } mutation B { logout { success } }';
    expect(codesOf(await post({ query }))).toEqual(['OPERATION_RESOLUTION_FAILURE']);
    expect(codesOf(await post({ query, operationName: 'C' }))).toEqual(['OPERATION_RESOLUTION_FAILURE']);
    expect(codesOf(await post({ query, operationName: 'A' }))).toEqual([]);
  });

  test('one attempt to log in is accepted next to other mutations', async () => {
    const { user } = await signUp(suite.url);
    const document = `mutation { logout { success }
      login(input: { email: "${user.email}", password: "${PASSWORD}" }) { expiresIn } }`;
    const { token: other } = await signUp(suite.url);
    expect(codesOf(await operate(suite.url, document, { token: other }))).toEqual([]);
  });
});

import { getIntrospectionQuery } from 'graphql';
import { loadWebBuild } from '../../src/pages/web-build.js';
import { signUp } from '../support/api.js';
import { ownTime } from '../support/own-time.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { codesOf, dataOf, follow, type GraphqlError, operate, socketClient } from './support.js';

const INVALID = 'GRAPHQL_VALIDATION_FAILED';
const REPEATED = /The same name is selected more than 20 times/;
const CROWDED = /More than 200 fields and fragments are selected in one place/;
const EXPANDED = /selects more than 2000 fields and fragments/;
/** Of one request, client included. Measured: 2 ms at most, and 45 ms and more for the first without the limits. */
const MAX_REFUSED_MS = 20;
/** Measured: 16 ms at most, most of which go into a hundred errors, and 50 on a busy machine. What no request may take is 100 (requirement G17). */
const MAX_ACCEPTED_MS = 100;

const repeat = (count: number, part: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ');
/** Each fragment selects a field of its own and spreads the next. */
const chain = (length: number): string =>
  `${repeat(length, (n) => `fragment f${n} on Viewer { x${n} ...f${n + 1} }`)} fragment f${length} on Viewer { id }`;

const REFUSED: [string, string, RegExp][] = [
  ['a field of the schema 495 times', `{ ${repeat(495, () => '__schema{__typename}')} }`, REPEATED],
  ['a field 21 times', `{ ${repeat(21, () => 'plans { name }')} }`, REPEATED],
  [
    'a field 21 times, spread over inline fragments',
    `{ ${repeat(11, () => 'plans { name }')} ... { ${repeat(10, () => '... { plans { name } }')} } }`,
    REPEATED,
  ],
  [
    'a field 21 times, in fields that are merged',
    `{ ${repeat(3, () => `plans { ${repeat(7, () => 'name')} }`)} }`,
    REPEATED,
  ],
  [
    'a field 21 times, in fragments that are spread together',
    `{ ...a ...b } fragment a on Query { ${repeat(11, () => 'plans { name }')} }
     fragment b on Query { ${repeat(10, () => 'plans { name }')} }`,
    REPEATED,
  ],
  ['one alias 21 times', `{ ${repeat(21, () => 'a: plans { name }')} }`, REPEATED],
  [
    'one fragment 21 times',
    `{ ${repeat(21, () => '...a')} } fragment a on Query { plans { name } }`,
    REPEATED,
  ],
  [
    'repetition in a fragment that is never spread',
    `{ plans { name } } fragment a on Query { ${repeat(21, () => 'plans { name }')} }`,
    REPEATED,
  ],
  ['201 fields in one place', `{ plans { ${repeat(201, (n) => `name${n}`)} } }`, CROWDED],
  ['a long chain of fragments', `{ viewer { ...f0 } } ${chain(60)}`, EXPANDED],
  [
    'many operations with the same fragments',
    `${repeat(30, (n) => `query q${n} { viewer { ${repeat(20, (k) => `...f${k}`)} } }`)}
     ${repeat(20, (n) => `fragment f${n} on Viewer { id plan { name } }`)}`,
    EXPANDED,
  ],
  [
    'a cycle of fragments that nests without end',
    '{ viewer { ...a } } fragment a on Viewer { apiKeys { nodes { owner { ...a } } } }',
    EXPANDED,
  ],
];

/** As much as each limit lets through, of the shapes that graphql is slow to validate. */
const WORST_ACCEPTED: [string, string][] = [
  ['a field 20 times, with three below each', `{ ${repeat(20, () => 'viewer { id name email }')} }`],
  [
    'many groups of 20',
    `{ ${repeat(14, (n) => `a${n}: viewer { ${repeat(20, () => 'id')} ${repeat(20, () => 'name')} }`)} }`,
  ],
  [
    '100 fragments in one place',
    `{ viewer { ${repeat(100, (n) => `...f${n}`)} } } ${repeat(100, (n) => `fragment f${n} on Viewer { x${n} }`)}`,
  ],
  ['a chain of fragments', `{ viewer { ...f0 } } ${chain(42)}`],
  [
    'fragments in fragments, 2^40 fields',
    `{ viewer { ...f0 } } ${repeat(40, (n) => `fragment f${n} on Viewer { ...f${n + 1} ...f${n + 1} }`)} fragment f40 on Viewer { id }`,
  ],
  ['200 names that do not exist', `{ ${repeat(200, (n) => `viewe${n}`)} }`],
];

describe('documents that repeat themselves', () => {
  const suite = usePlatform();

  test.each(REFUSED)('HTTP refuses %s, for anybody', async (_what, document, message) => {
    const answer = await operate(suite.url, document);
    expect([answer.status, answer.body.data, codesOf(answer)]).toEqual([400, undefined, [INVALID]]);
    expect(answer.body.errors![0]!.message).toMatch(message);
  });

  test('none of them runs', async () => {
    const { token } = await signUp(suite.url);
    const topUps = repeat(21, () => 'topUp(input: { amountUsd: 10 }) { balanceUsd }');
    expect(codesOf(await operate(suite.url, `mutation { ${topUps} }`, { token }))).toEqual([INVALID]);
    expect(await dataOf(suite.url, '{ viewer { balanceUsd } }', { token })).toEqual({
      viewer: { balanceUsd: '1.000000' },
    });
  });

  test('WebSocket refuses them with the same messages', async () => {
    const { token } = await signUp(suite.url);
    const client = socketClient(suite.url, { token });
    for (const [, document, message] of REFUSED) {
      const followed = follow(client, document);
      await until(() => followed.ended, { what: 'an answer' });
      expect(followed.results).toEqual([]);
      const errors = followed.error as GraphqlError[];
      expect(errors.map(({ extensions }) => extensions.code)).toEqual([INVALID]);
      expect(errors[0]!.message).toMatch(message);
    }
    await client.dispose();
  });

  const costs = [
    ...REFUSED.map(([what, document]) => [what, document, MAX_REFUSED_MS] as const),
    ...WORST_ACCEPTED.map(([what, document]) => [what, document, MAX_ACCEPTED_MS] as const),
  ];
  test.each(costs)('%s costs little, refused or not', async (_what, document, maxMs) => {
    const time = ownTime();
    try {
      let leastMs = Number.POSITIVE_INFINITY;
      // What a document costs by itself shows each time: the calmest of up to twenty is the one that counts.
      for (let n = 0; n < 20 && leastMs >= maxMs; n++) {
        const began = time.now();
        // A comment of its own, so that no cache helps.
        await operate(suite.url, `${document} # ${n}`);
        leastMs = Math.min(leastMs, time.now() - began);
      }
      expect(leastMs).toBeLessThan(maxMs);
    } finally {
      time.stop();
    }
  });

  test.each(WORST_ACCEPTED)('%s is left to the other rules', async (_what, document) => {
    const answer = await operate(suite.url, document);
    for (const { message } of answer.body.errors ?? []) {
      expect(message).not.toMatch(REPEATED);
      expect(message).not.toMatch(CROWDED);
      expect(message).not.toMatch(EXPANDED);
    }
  });

  test('a field may be repeated 20 times, and is returned once', async () => {
    const data = await dataOf(suite.url, `{ ${repeat(20, () => 'plans { name }')} }`);
    expect(Object.keys(data)).toEqual(['plans']);
  });

  test('introspection with every option is accepted', async () => {
    const query = getIntrospectionQuery({
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    });
    expect(codesOf(await operate(suite.url, query))).toEqual([]);
  });

  test('every document of the pages is accepted', async () => {
    const texts = [...loadWebBuild()!.documents.values()];
    expect(texts.length).toBeGreaterThan(10);
    for (const text of texts) {
      // Without a session and without variables: only the document itself is judged.
      expect(codesOf(await operate(suite.url, text))).not.toContain(INVALID);
    }
  });
});

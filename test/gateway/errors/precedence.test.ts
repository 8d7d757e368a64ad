import { createTestKey, errorOf, type TestKeyOptions } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

/** One way to break each check, in the order of the contract. */
const RULES: {
  code: string;
  key?: TestKeyOptions;
  path?: string;
  body?: string;
  credential?: string;
  spent?: boolean;
}[] = [
  { code: 'invalid_api_key', credential: 'Bearer nonsense' },
  { code: 'endpoint_not_supported', path: '/v1/completions' },
  { code: 'invalid_body', body: '{"model":' },
  { code: 'insufficient_credits', key: { balance: '0' } },
  { code: 'model_not_allowed', body: '{"model":"gateway/none"}' },
  { code: 'upstream_unconfigured', key: { virtualKey: null } },
  { code: 'daily_cap_exceeded', key: { dailyLimit: '0' } },
  { code: 'rate_limit_exceeded', spent: true },
];

const PAIRS = RULES.flatMap((first, i) => RULES.slice(i + 1).map((second) => [first, second] as const));

describe('a call that breaks two rules at once', () => {
  const suite = useEdge();

  test.each(PAIRS.map(([first, second]) => [first.code, second.code, first, second] as const))(
    'gets %s rather than %s',
    async (code, _other, first, second) => {
      const { key } = await createTestKey(suite.db, { plan: 'free', ...second.key, ...first.key });
      const call = (
        path = '/v1/chat/completions',
        body = '{"model":"gateway/fast"}',
        credential = `Bearer ${key}`,
      ) => fetch(suite.edge.url + path, { method: 'POST', headers: { authorization: credential }, body });
      // Only a call that passes all other checks counts, so that the window fills only when nothing else is broken.
      if (first.spent || (second.spent && !first.key))
        for (let i = 0; i < 20; i++) await (await call()).arrayBuffer();
      const response = await call(
        first.path ?? second.path,
        first.body ?? second.body,
        first.credential ?? second.credential,
      );
      expect((await errorOf(response)).code).toBe(code);
    },
  );
});

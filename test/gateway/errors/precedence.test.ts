import { createTestKey, errorOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { until } from '../../support/until.js';

interface Rule {
  code: string;
  /** Breaks the rule in the database, for the account or the key. */
  sql?: string;
  path?: string;
  body?: string;
  credential?: string;
  /** Fills the window of the plan's requests per minute. */
  spent?: boolean;
}

/** One way to break each check, in the order of the contract. */
const RULES: Rule[] = [
  { code: 'invalid_api_key', credential: 'Bearer nonsense' },
  { code: 'endpoint_not_supported', path: '/v1/completions' },
  { code: 'invalid_body', body: '{"model":' },
  {
    code: 'insufficient_credits',
    sql: 'update accounts set balance = 0, ledger_seq = ledger_seq + 1000 where id = $1',
  },
  { code: 'model_not_allowed', body: '{"model":"gateway/none"}' },
  { code: 'invalid_body for its model', body: '{"model":"gateway/embed"}' },
  {
    code: 'upstream_unconfigured',
    sql: 'update api_keys set virtual_key_sealed = null where account_id = $1',
  },
  { code: 'daily_cap_exceeded', sql: 'update api_keys set daily_limit_usd = 0 where account_id = $1' },
  { code: 'rate_limit_exceeded', spent: true },
];

const PAIRS = RULES.flatMap((first, i) => RULES.slice(i + 1).map((second) => [first, second] as const));

describe('a call that breaks two rules at once', () => {
  const suite = useEdge();

  test.each(PAIRS.map(([first, second]) => [first.code, second.code, first, second] as const))(
    'gets %s rather than %s',
    async (code, other, first, second) => {
      const { key, accountId } = await createTestKey(suite.db, { plan: 'free' });
      const call = (rule: Rule, fallback: Rule = {} as Rule) =>
        fetch(suite.edge.url + (rule.path ?? fallback.path ?? '/v1/chat/completions'), {
          method: 'POST',
          headers: { authorization: rule.credential ?? fallback.credential ?? `Bearer ${key}` },
          body: rule.body ?? fallback.body ?? '{"model":"gateway/fast"}',
        });
      const codeOf = async (response: Response) => {
        if (response.ok) return 'ok';
        const { code, param } = await errorOf(response);
        return code === 'invalid_body' && param === 'model' ? 'invalid_body for its model' : code;
      };
      if (second.spent) for (let i = 0; i < 20; i++) await (await call({} as Rule)).arrayBuffer();
      await suite.edge.settled();
      // The second rule alone is really broken: without the first, its own code is what comes.
      for (const [rule, expected] of [
        [second, other],
        [first, code],
      ] as const) {
        if (rule.sql) {
          await suite.db.pool.query(rule.sql, [accountId]);
          await suite.db.pool.query(`select pg_notify('gateway_invalidate', 'account:' || $1)`, [accountId]);
        }
        const asked = rule === second ? () => call(second) : () => call(first, second);
        await until(async () => (await codeOf(await asked())) === expected, { what: expected });
      }
    },
  );
});

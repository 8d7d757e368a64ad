import { register } from '../nodes/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { codesOf, dataOf, operate } from './support.js';

type Fields = Record<string, unknown>;

/** Something that can be changed, as two browser tabs have it open. */
interface Editable {
  path: string;
  method?: string;
  token: string;
  /** Per field three different values. */
  fields: Record<string, readonly [unknown, unknown, unknown]>;
  /** What a change says that it is based on. */
  basedOn(before: Fields, field: string): Fields;
}

/** The values that a change replaces. */
const byValue = (before: Fields, field: string): Fields => ({ expected: { [field]: before[field] } });

/** Changes of one object in two tabs: the slower one gets an error, and neither replaces anything unseen. */
describe('two tabs on one object', () => {
  const suite = usePlatform();
  let token: string;
  let admin: string;
  let accountId: string;
  beforeAll(async () => {
    ({ token: admin } = await signUpAdmin(suite));
    const user = await signUp(suite.url);
    token = user.token;
    accountId = user.user.id;
  });

  const made = async <T>(path: string, body: object): Promise<T> => {
    const answer = await call<T>(suite.url, 'POST', path, { token, body });
    expect(answer.status).toBe(201);
    return answer.body;
  };
  const newKey = async (): Promise<string> =>
    (await made<{ api_key: { id: string } }>('/api/keys', { name: 'first' })).api_key.id;
  const newWidget = async (): Promise<string> =>
    (await made<{ id: string }>('/api/widgets', { name: 'first', model_public_name: 'gateway/fast' })).id;
  const newAlert = async (keyId: string): Promise<string> => {
    const body = { kind: 'email', destination: 'a@example.com', thresholds_pct: [50] };
    return (await made<{ id: string }>(`/api/keys/${keyId}/alerts`, body)).id;
  };
  const newPrompt = async (): Promise<string> =>
    (await made<{ id: string }>('/api/prompts', { name: 'first', content: 'x' })).id;

  const guard = (at_pct: number) => ({ at_pct, action: 'slow', model_public_name: null });
  const objects: Record<string, () => Promise<Editable>> = {
    'an API key': async () => ({
      path: `/api/keys/${await newKey()}`,
      token,
      fields: {
        name: ['one', 'two', 'three'],
        daily_limit_usd: ['1.000000', null, '3.000000'],
        monthly_limit_usd: [null, '2.500000', '3.000000'],
        guard: [guard(10), null, guard(30)],
      },
      basedOn: byValue,
    }),
    'a widget': async () => ({
      path: `/api/widgets/${await newWidget()}`,
      token,
      fields: {
        name: ['one', 'two', 'three'],
        system_prompt: ['', 'Two', 'Three'],
        theme: [
          { primary: '#111111', position: 'bottom-left' },
          { primary: '#222222', position: 'bottom-left' },
          { primary: '#333333', position: 'bottom-right' },
        ],
        allowed_domains: [['a.example'], [], ['b.example', 'a.example']],
        rate_limit_per_minute: [1, 2, 3],
        visitor_daily_limit: [null, 2, 3],
        monthly_limit_usd: [null, '0.000001', '3.000000'],
      },
      basedOn: byValue,
    }),
    'an alert subscription': async () => {
      const keyId = await newKey();
      return {
        path: `/api/keys/${keyId}/alerts/${await newAlert(keyId)}`,
        token,
        fields: {
          destination: ['one@example.com', 'two@example.com', 'three@example.com'],
          thresholds_pct: [[10], [10, 20], [30]],
        },
        basedOn: byValue,
      };
    },
    'the low-balance alert': async () => ({
      path: '/api/billing/low-balance-alert',
      method: 'PUT',
      token,
      fields: { threshold_usd: ['1.000000', null, '3.000000'] },
      basedOn: byValue,
    }),
    'a prompt': async () => ({
      path: `/api/prompts/${await newPrompt()}`,
      token,
      fields: { name: ['one', 'two', 'three'], description: [null, 'Two', 'Three'] },
      basedOn: ({ revision }) => ({ expected_revision: revision }),
    }),
    'a node': async () => ({
      path: `/api/admin/gpu-nodes/${(await register({ url: suite.url, token: admin })).id}`,
      token: admin,
      fields: { name: ['one', 'two', 'three'], status: ['draining', 'offline', 'active'] },
      basedOn: ({ updated_at }) => ({ expected_updated_at: updated_at }),
    }),
    'the plan of an account': async () => ({
      path: `/api/admin/users/${accountId}`,
      token: admin,
      fields: { plan: ['pro', 'team', 'developer'] },
      basedOn: (before) => ({ expected_plan: before.plan_id ?? before.plan }),
    }),
  };

  const change = ({ path, method = 'PATCH', token: by }: Editable, body: Fields) =>
    call<Fields & { error?: { code: string } }>(suite.url, method, path, { token: by, body });

  test.each(Object.keys(objects))('on %s: the later of two changes of one field is refused', async (name) => {
    const object = await objects[name]!();
    for (const [field, [first, second, third]] of Object.entries(object.fields)) {
      const { body: before } = await change(object, { [field]: first });
      const base = object.basedOn(before, field);
      const [one, other] = await Promise.all([
        change(object, { [field]: second, ...base }),
        change(object, { [field]: third, ...base }),
      ]);
      const [done, refused] = one.status === 200 ? [one, other] : [other, one];
      expect([field, done.status, refused.status, refused.body.error?.code]).toEqual([
        field,
        200,
        409,
        'changed_meanwhile',
      ]);
      // The refused one has changed nothing: what the other has left is still there to be based on.
      const again = await change(object, { [field]: first, ...object.basedOn(done.body, field) });
      expect([field, again.status]).toEqual([field, 200]);
    }
  });

  test.each(['an API key', 'a widget', 'an alert subscription'])(
    'on %s: changes of different fields are combined',
    async (name) => {
      const object = await objects[name]!();
      const [one, other] = Object.keys(object.fields) as [string, string];
      const [first, second] = [object.fields[one]!, object.fields[other]!];
      const { body: before } = await change(object, { [one]: first[0], [other]: second[0] });
      await change(object, { [one]: first[1] });
      const { status, body } = await change(object, { [other]: second[1], ...byValue(before, other) });
      expect([status, body[one], body[other]]).toEqual([200, first[1], second[1]]);
    },
  );

  test.each(['an API key', 'a widget', 'an alert subscription', 'the low-balance alert'])(
    'on %s: an expectation alone is no change, and one of unknown fields is invalid',
    async (name) => {
      const object = await objects[name]!();
      for (const body of [{ expected: {} }, { expected: { id: 'x' } }])
        expect((await change(object, body)).status).toBe(422);
    },
  );

  test('over GraphQL each mutation accepts the same', async () => {
    const keyId = await newKey();
    const alertId = await newAlert(keyId);
    const widgetId = await newWidget();
    const mutations = [
      `renameApiKey(input: { id: "${keyId}", name: "$new", expected: { name: "$old" } })`,
      `setApiKeyLimits(input: { id: "${keyId}", dailyLimitUsd: "$new", expected: { dailyLimitUsd: $old } })`,
      `setApiKeyGuard(input: { id: "${keyId}", guard: { atPct: $new, action: SLOW }, expected: { guard: $old } })`,
      `updateWidget(input: { id: "${widgetId}", dailyMessageLimit: $new, expected: { dailyMessageLimit: $old } })`,
      `updateAlertSubscription(input: { keyId: "${keyId}", id: "${alertId}", thresholdsPct: [$new], expected: { thresholdsPct: [$old] } })`,
      `setLowBalanceAlert(input: { thresholdUsd: "$new", expected: { thresholdUsd: $old } })`,
    ];
    const olds = ['first', 'null', 'null', '200', '50', '"1.000000"'];
    await call(suite.url, 'PUT', '/api/billing/low-balance-alert', { token, body: { threshold_usd: 1 } });
    for (const [i, mutation] of mutations.entries()) {
      const document = `mutation { ${mutation.replace('$new', '7').replace('$old', olds[i]!)} { __typename } }`;
      await dataOf(suite.url, document, { token });
      expect([mutation, codesOf(await operate(suite.url, document, { token }))]).toEqual([
        mutation,
        ['changed_meanwhile'],
      ]);
    }
  });
});

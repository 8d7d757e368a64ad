import { dataOf } from '../graphql/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

interface Action {
  action: string;
  actor_email: string | null;
  subject_id: string;
  changes: { field: string; before: string | null; after: string | null }[];
}

describe('the audit log', () => {
  const suite = usePlatform();
  let admin: { token: string; user: { id: string; email: string } };
  beforeAll(async () => {
    admin = await signUpAdmin(suite);
  });

  const patch = (path: string, body: unknown) =>
    call(suite.url, 'PATCH', `/api/admin/${path}`, { token: admin.token, body });
  const logOf = async (subject: string, query = '') =>
    (
      await call<Action[]>(suite.url, 'GET', `/api/admin/actions?subject_id=${subject}${query}`, {
        token: admin.token,
      })
    ).body;

  test('contains each change of an account with the previous values, newest first', async () => {
    const { user } = await signUp(suite.url);
    await patch(`users/${user.id}`, { plan: 'pro', status: 'active' });
    await patch(`users/${user.id}`, { status: 'disabled', role: 'admin' });
    const [second, first] = await logOf(user.id);
    expect(first).toMatchObject({
      action: 'account.update',
      actor_email: admin.user.email,
      changes: [{ field: 'plan', before: 'free', after: 'pro' }],
    });
    expect(second!.changes).toEqual([
      { field: 'role', before: 'user', after: 'admin' },
      { field: 'status', before: 'active', after: 'disabled' },
    ]);
    expect(await logOf(user.id, '&limit=1&offset=1')).toEqual([first]);
  });

  test('can be filtered by kind of action and by administrator', async () => {
    const { user } = await signUp(suite.url);
    const other = await signUpAdmin(suite);
    await patch(`users/${user.id}`, { plan: 'pro' });
    await call(suite.url, 'POST', `/api/admin/users/${user.id}/credit-adjustments`, {
      token: other.token,
      body: { amount_usd: 1, reason: 'a gift' },
    });
    const actionsOf = async (query: string) => (await logOf(user.id, query)).map(({ action }) => action);
    expect(await actionsOf('&action=account.')).toEqual(['account.adjust_credit', 'account.update']);
    expect(await actionsOf('&action=account.u')).toEqual(['account.update']);
    expect(await actionsOf('&action=node.')).toEqual([]);
    expect(await actionsOf(`&actor_id=${other.user.id}`)).toEqual(['account.adjust_credit']);
    const { adminActions } = await dataOf<{ adminActions: object[] }>(
      suite.url,
      `{ adminActions(subjectId: "${user.id}", action: null, actorId: "${admin.user.id}") { action } }`,
      { token: admin.token },
    );
    expect(adminActions).toEqual([{ action: 'account.update' }]);
  });

  test('contains neither refused changes nor changes of nothing', async () => {
    const { user } = await signUp(suite.url);
    await patch(`users/${user.id}`, { plan: 'free' });
    expect((await patch(`users/${user.id}`, { plan: 'no such plan' })).status).toBe(422);
    expect(await logOf(user.id)).toEqual([]);
  });

  test('contains changes of models, and GraphQL returns the same', async () => {
    for (const is_featured of [false, true, true]) await patch('models/embed', { is_featured });
    const { adminActions } = await dataOf<{ adminActions: object[] }>(
      suite.url,
      '{ adminActions(subjectId: "gateway/embed", limit: 5) { action source subjectId subjectEmail changes { field before after } } }',
      { token: admin.token },
    );
    expect(adminActions).toEqual([
      {
        action: 'model.update',
        source: 'SESSION',
        subjectId: 'gateway/embed',
        subjectEmail: null,
        changes: [{ field: 'is_featured', before: 'false', after: 'true' }],
      },
    ]);
  });

  test('outlives the account of the administrator', async () => {
    const other = await signUpAdmin(suite);
    const { user } = await signUp(suite.url);
    await call(suite.url, 'PATCH', `/api/admin/users/${user.id}`, {
      token: other.token,
      body: { plan: 'pro' },
    });
    await call(suite.url, 'DELETE', '/api/auth/me', {
      token: other.token,
      body: { password: 'correct horse battery staple' },
    });
    expect(await logOf(user.id)).toMatchObject([{ actor_id: other.user.id, actor_email: null }]);
  });

  test.each(['actions', 'jobs', 'routing'])('and /api/admin/%s are for administrators only', async (path) => {
    const { token } = await signUp(suite.url);
    const refused = await call<ErrorAnswer>(suite.url, 'GET', `/api/admin/${path}`, { token });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    expect((await call(suite.url, 'GET', `/api/admin/${path}`)).status).toBe(401);
  });
});

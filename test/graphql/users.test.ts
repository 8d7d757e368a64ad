import { randomUUID } from 'node:crypto';
import { signUpAdmin } from '../support/admin.js';
import { signUp, type UserFields } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { codesOf, dataOf, operate } from './support.js';

interface Users {
  users: {
    nodes: { id: string; email: string }[];
    edges: { cursor: string }[];
    pageInfo: { hasNextPage: boolean; endCursor: string };
  };
}
const USERS = `query ($first: Int, $after: String, $search: String) {
  users(first: $first, after: $after, search: $search) {
    nodes { id email } edges { cursor } pageInfo { hasNextPage endCursor } } }`;

describe('administration', () => {
  const suite = usePlatform();
  /** Appears only in the names of this file's accounts. */
  const mark = randomUUID();
  let token: string;
  let adminId: string;
  beforeAll(async () => {
    const admin = await signUpAdmin(suite);
    token = admin.token;
    adminId = admin.user.id;
  });

  const change = (mutation: string, input: Record<string, unknown>, as = token) => {
    const type = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input!`;
    const query = `mutation ($input: ${type}) { ${mutation}(input: $input) { user { id status role planId balanceUsd } } }`;
    return operate<Record<string, { user: Record<string, unknown> }>>(suite.url, query, {
      token: as,
      variables: { input },
    });
  };

  test('users pages through all accounts, newest first, each once while others sign up', async () => {
    const made: UserFields[] = [];
    for (let n = 0; n < 5; n++) made.push((await signUp(suite.url, { name: `Walked ${mark}` })).user);
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const data: Users = await dataOf<Users>(suite.url, USERS, {
        token,
        variables: { first: 2, after, search: `Walked ${mark}` },
      });
      expect(data.users.edges.at(-1)!.cursor).toBe(data.users.pageInfo.endCursor);
      seen.push(...data.users.nodes.map(({ id }) => id));
      await signUp(suite.url, { name: `Walked ${mark}` });
      after = data.users.pageInfo.hasNextPage ? data.users.pageInfo.endCursor : null;
    } while (after);
    expect(seen).toEqual(made.map(({ id }) => id).reverse());
  });

  test('users searches email address and name, without case; pattern characters are plain text', async () => {
    const { user } = await signUp(suite.url, { name: `Percent % Under_score ${mark}` });
    const found = async (search: string) =>
      (await dataOf<Users>(suite.url, USERS, { token, variables: { first: 10, search } })).users.nodes.map(
        ({ id }) => id,
      );
    expect(await found(`percent % under_score ${mark}`)).toEqual([user.id]);
    expect(await found(user.email.toUpperCase())).toEqual([user.id]);
    expect(await found(`percent%score ${mark}`)).toEqual([]);
    expect(await found(`percent _ under_score ${mark}`)).toEqual([]);
  });

  test('setUserPlan moves an account and grants the included credits once', async () => {
    const { user } = await signUp(suite.url);
    const first = await change('setUserPlan', { id: user.id, plan: 'starter' });
    expect(first.body.data!.setUserPlan!.user).toMatchObject({ planId: 'starter', balanceUsd: '13.000000' });
    await change('setUserPlan', { id: user.id, plan: 'free' });
    const again = await change('setUserPlan', { id: user.id, plan: 'starter' });
    expect(again.body.data!.setUserPlan!.user.balanceUsd).toBe('13.000000');
  });

  test('setUserPlan changes nothing if the account has another plan than expected', async () => {
    const { user } = await signUp(suite.url);
    const late = await change('setUserPlan', { id: user.id, plan: 'pro', expectedPlan: 'starter' });
    expect(codesOf(late)).toEqual(['changed_meanwhile']);
    const { user: now } = await dataOf<{ user: object }>(
      suite.url,
      `{ user(id: "${user.id}") { planId email } }`,
      { token },
    );
    expect(now).toEqual({ planId: 'free', email: user.email });
    const moved = await change('setUserPlan', { id: user.id, plan: 'pro', expectedPlan: 'free' });
    expect(moved.body.data!.setUserPlan!.user.planId).toBe('pro');
  });

  test('setUserPlan to an unknown plan is an error of that field', async () => {
    const { user } = await signUp(suite.url);
    const answer = await change('setUserPlan', { id: user.id, plan: 'gold' });
    expect(answer.body.errors![0]!.extensions).toEqual({
      code: 'validation_error',
      details: [{ field: 'plan', message: 'is not a plan' }],
    });
  });

  test('an error of a field that a mutation fills in itself is one of its input', async () => {
    const disabled = await change('disableUser', { id: adminId });
    expect(disabled.body.errors![0]!.extensions).toEqual({
      code: 'validation_error',
      details: [{ field: 'input', message: "can't disable your own account" }],
    });
    const demoted = await change('setUserRole', { id: adminId, role: 'USER' });
    expect(demoted.body.errors![0]!.extensions.details).toEqual([
      { field: 'role', message: "can't demote your own account" },
    ]);
  });

  test('disableUser ends the sessions at once, enableUser lets the account act again', async () => {
    const { user, token: hers } = await signUp(suite.url);
    expect((await change('disableUser', { id: user.id })).body.data!.disableUser!.user.status).toBe(
      'DISABLED',
    );
    expect(codesOf(await operate(suite.url, '{ viewer { id } }', { token: hers }))).toEqual(['unauthorized']);
    expect((await change('enableUser', { id: user.id })).body.data!.enableUser!.user.status).toBe('ACTIVE');
  });

  test('setUserRole makes an administrator, whose former sessions end', async () => {
    const { user, token: hers } = await signUp(suite.url);
    const answer = await change('setUserRole', { id: user.id, role: 'ADMIN' });
    expect(answer.body.data!.setUserRole!.user.role).toBe('ADMIN');
    expect(codesOf(await operate(suite.url, '{ viewer { id } }', { token: hers }))).toEqual(['unauthorized']);
  });

  test('an administrator can neither disable nor demote themselves', async () => {
    expect(codesOf(await change('disableUser', { id: adminId }))).toEqual(['validation_error']);
    expect(codesOf(await change('setUserRole', { id: adminId, role: 'USER' }))).toEqual(['validation_error']);
  });

  test.each(['01900000-0000-7000-8000-000000000000', 'no-uuid', ''])(
    'an account %j is not_found',
    async (id) => {
      expect(codesOf(await change('disableUser', { id }))).toEqual(['not_found']);
    },
  );

  test('is forbidden to everybody else, who learn nothing about which accounts exist', async () => {
    const { token: hers } = await signUp(suite.url);
    const { user } = await signUp(suite.url);
    for (const id of [user.id, '01900000-0000-7000-8000-000000000000']) {
      for (const mutation of ['disableUser', 'enableUser']) {
        expect(codesOf(await change(mutation, { id }, hers))).toEqual(['forbidden']);
      }
    }
    expect(codesOf(await operate(suite.url, USERS, { token: hers, variables: { first: 1 } }))).toEqual([
      'forbidden',
    ]);
  });
});

import { call, type ErrorAnswer, PASSWORD, type SessionAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

const NEW_PASSWORD = 'another battery staple';

describe('POST /api/auth/password', () => {
  const suite = usePlatform();

  const login = (email: string, password: string) =>
    call<SessionAnswer>(suite.url, 'POST', '/api/auth/login', { body: { email, password } });
  const change = (token: string, body: unknown) =>
    call<ErrorAnswer>(suite.url, 'POST', '/api/auth/password', { token, body });
  const me = async (token: string) => (await call(suite.url, 'GET', '/api/auth/me', { token })).status;

  test('replaces the password', async () => {
    const { token, user } = await signUp(suite.url);
    const answer = await change(token, { current_password: PASSWORD, new_password: NEW_PASSWORD });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await login(user.email, PASSWORD)).status).toBe(401);
    expect((await login(user.email, NEW_PASSWORD)).status).toBe(200);
  });

  test('ends all other sessions at once and keeps this one, twice', async () => {
    const { token, user } = await signUp(suite.url);
    const other = (await login(user.email, PASSWORD)).body.access_token;
    await change(token, { current_password: PASSWORD, new_password: NEW_PASSWORD });
    expect([await me(token), await me(other)]).toEqual([200, 401]);
    const later = (await login(user.email, NEW_PASSWORD)).body.access_token;
    expect(await me(later)).toBe(200);
    await change(token, { current_password: NEW_PASSWORD, new_password: PASSWORD });
    expect([await me(token), await me(other), await me(later)]).toEqual([200, 401, 401]);
  });

  test('the surviving session can still be logged out', async () => {
    const { token } = await signUp(suite.url);
    await change(token, { current_password: PASSWORD, new_password: NEW_PASSWORD });
    await call(suite.url, 'POST', '/api/auth/logout', { token });
    expect(await me(token)).toBe(401);
  });

  test('refuses a wrong current password and changes nothing', async () => {
    const { token, user } = await signUp(suite.url);
    const answer = await change(token, { current_password: 'wrong one', new_password: NEW_PASSWORD });
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_credentials']);
    expect((await login(user.email, PASSWORD)).status).toBe(200);
  });

  test.each(['short', 'password1', 'y'.repeat(129)])('refuses the new password %s', async (password) => {
    const { token } = await signUp(suite.url);
    const answer = await change(token, { current_password: PASSWORD, new_password: password });
    expect(answer.status).toBe(422);
    expect(answer.body.error.details?.[0]?.field).toBe('new_password');
  });

  test('of two changes at the same instant one wins', async () => {
    const { token, user } = await signUp(suite.url);
    const other = (await login(user.email, PASSWORD)).body.access_token;
    const answers = await Promise.all([
      change(token, { current_password: PASSWORD, new_password: 'the first new password' }),
      change(other, { current_password: PASSWORD, new_password: 'the second new password' }),
    ]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([204, 401]);
  });
});

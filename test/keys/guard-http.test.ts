import { flushBatch } from '../../src/metering/flush.store.js';
import { useAlertsApi } from '../alerts/alerts-api.js';
import { callOf, eventsOf, limitKey, subscribe } from '../alerts/support.js';
import { codesOf, dataOf, operate } from '../graphql/support.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';

interface Key {
  guard: unknown;
  guard_status: string;
  guard_acted_at: string | null;
}

const STOP = { at_pct: 80, action: 'disable' };
const ended = (status: string) => ({ guard_status: status, guard_acted_at: null });
const MOVE = { at_pct: 50, action: 'fallback_model', model_public_name: 'gateway/fast' };

describe('the guard of a key', () => {
  const api = useAlertsApi();
  const path = (): string => `/api/keys/${api.payer.keyId}`;
  const patch = <T = Key>(body: unknown) => api.send<T>('PATCH', path(), body);
  const undo = () => api.send<Key>('POST', `${path()}/guard/undo`);
  const spend = (cents: number) => flushBatch(api.db.pool, [callOf(api.payer, cents)]);
  const guardEvents = async () =>
    (await eventsOf(api.db.pool, api.payer)).map((event) => [
      event.purpose,
      event.kind,
      event.subscription_id,
    ]);

  test('is off by default, can be set, read and removed, and is off without a monthly limit', async () => {
    expect((await api.send<Key>('GET', path())).body).toMatchObject({ guard: null, guard_status: 'off' });
    const set = await patch({ guard: STOP });
    expect([set.status, set.body]).toMatchObject([
      200,
      { guard: { ...STOP, model_public_name: null }, guard_status: 'off', guard_acted_at: null },
    ]);
    expect((await patch({ monthly_limit_usd: 1 })).body).toMatchObject({ guard_status: 'armed' });
    expect((await patch({ name: 'other' })).body).toMatchObject({ guard: STOP, guard_status: 'armed' });
    expect((await patch({ guard: MOVE })).body.guard).toEqual(MOVE);
    expect((await patch({ guard: null })).body).toMatchObject({ guard: null, guard_status: 'off' });
  });

  test('acts once, sends one alert, can be undone, and acts again only when it is set again', async () => {
    await patch({ monthly_limit_usd: 1, guard: STOP });
    await spend(79);
    expect((await api.send<Key>('GET', path())).body.guard_status).toBe('armed');
    await spend(1);
    await spend(1);
    const acting = (await api.send<Key>('GET', path())).body;
    expect(acting).toMatchObject({ guard_status: 'acting', guard_acted_at: expect.any(String) });
    expect(await guardEvents()).toEqual([['guard', 'email', null]]);
    expect((await undo()).body.guard_status).toBe('undone');
    expect((await undo()).body.guard_status).toBe('undone');
    await spend(50);
    expect((await patch({ monthly_limit_usd: 0.5 })).body.guard_status).toBe('undone');
    expect((await patch({ guard: STOP })).body.guard_status).toBe('acting');
    expect(await guardEvents()).toHaveLength(2);
  });

  test('acts at once when it is set, or the limit lowered, below the current spend', async () => {
    await limitKey(api.db.pool, api.payer, 1);
    await spend(90);
    expect((await patch({ guard: STOP })).body.guard_status).toBe('acting');
    expect((await patch({ monthly_limit_usd: 100 })).body.guard_status).toBe('acting');
    await patch({ guard: STOP });
    expect((await patch({ monthly_limit_usd: 1 })).body.guard_status).toBe('acting');
  });

  test('ends with the limit, and acts under a new one only when its percentage is reached', async () => {
    await patch({ monthly_limit_usd: 1, guard: STOP });
    await spend(80);
    expect((await patch({ monthly_limit_usd: null })).body).toMatchObject(ended('off'));
    expect((await patch({ monthly_limit_usd: 2 })).body).toMatchObject(ended('armed'));
    await spend(79);
    expect((await api.send<Key>('GET', path())).body).toMatchObject(ended('armed'));
    await spend(1);
    expect((await api.send<Key>('GET', path())).body.guard_status).toBe('acting');
    expect(await guardEvents()).toHaveLength(2);
    await patch({ monthly_limit_usd: null });
    expect((await patch({ monthly_limit_usd: 2 })).body.guard_status).toBe('acting');
  });

  test('stays undone for the month when its limit is removed and set again', async () => {
    await patch({ monthly_limit_usd: 1, guard: STOP });
    await spend(80);
    await undo();
    expect((await patch({ monthly_limit_usd: null })).body.guard_status).toBe('off');
    expect((await patch({ monthly_limit_usd: 0.5 })).body.guard_status).toBe('undone');
    expect(await guardEvents()).toHaveLength(1);
  });

  test("isn't undone if it differs from the expected one", async () => {
    await patch({ monthly_limit_usd: 1, guard: STOP });
    await spend(80);
    const based = <T = Key>(expected: object) => api.send<T>('POST', `${path()}/guard/undo`, { expected });
    const stale = await based<ErrorAnswer>({ guard: MOVE });
    expect([stale.status, stale.body.error.code]).toEqual([409, 'changed_meanwhile']);
    expect((await based<ErrorAnswer>({ at_pct: 80 })).status).toBe(422);
    expect((await api.send<Key>('GET', path())).body.guard_status).toBe('acting');
    expect((await based({ guard: STOP, monthly_limit_usd: '1' })).body.guard_status).toBe('undone');
  });

  test('is reported by the alert of the same percentage, and by a separate one to every other subscription', async () => {
    const [same, other] = [
      await subscribe(api.db.pool, api.payer, [80]),
      await subscribe(api.db.pool, api.payer, [10], { kind: 'email' }),
    ];
    await subscribe(api.db.pool, api.payer, [80], { active: false });
    await patch({ monthly_limit_usd: 1, guard: { ...MOVE, at_pct: 80 } });
    await spend(80);
    const events = await api.send<Record<string, unknown>[]>('GET', `${path()}/alert-events`);
    const moved = { guard_action: 'fallback_model', guard_model_public_name: 'gateway/fast' };
    expect(events.body).toHaveLength(3);
    expect(events.body).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ purpose: 'threshold', subscription_id: same, threshold_pct: 80, ...moved }),
        expect.objectContaining({ purpose: 'guard', subscription_id: other, threshold_pct: 80, ...moved }),
        expect.objectContaining({ purpose: 'threshold', threshold_pct: 10, guard_action: null }),
      ]),
    );
  });

  test.each([
    [{ ...STOP, at_pct: 0 }, 422, 'guard.at_pct'],
    [{ ...STOP, at_pct: 101 }, 422, 'guard.at_pct'],
    [{ ...STOP, at_pct: 1.5 }, 422, 'guard.at_pct'],
    [{ ...STOP, action: 'delete' }, 422, 'guard.action'],
    [{ ...STOP, model_public_name: 'gateway/fast' }, 422, 'guard.model_public_name'],
    [{ ...MOVE, model_public_name: null }, 422, 'guard.model_public_name'],
    [{ ...MOVE, model_public_name: 'gateway/embed' }, 422, 'guard.model_public_name'],
    [{ ...STOP, undone: true }, 422, 'guard.undone'],
    [{}, 422, 'guard.at_pct'],
  ])('%j is refused (%d)', async (guard, status, field) => {
    const answer = await patch<ErrorAnswer>({ guard });
    expect(answer.status).toBe(status);
    expect(answer.body.error.details?.map((detail) => detail.field)).toContain(field);
    expect((await api.send<Key>('GET', path())).body.guard).toBeNull();
  });

  test('accepts no model outside the plan, and a refused change has no effect', async () => {
    const answer = await patch<ErrorAnswer>({
      name: 'renamed',
      guard: { ...MOVE, model_public_name: 'gateway/qwen-pro' },
    });
    expect([answer.status, answer.body.error.code]).toEqual([403, 'model_not_allowed']);
    expect((await api.send('GET', path())).text).not.toContain('renamed');
  });

  test("a stranger's key is not found", async () => {
    const { token } = await signUp(api.url);
    for (const [method, of, body] of [
      ['PATCH', path(), { guard: STOP }],
      ['POST', `${path()}/guard/undo`, undefined],
    ] as const) {
      expect((await call(api.url, method, of, { token, body })).status).toBe(404);
    }
  });

  test('is the same in GraphQL', async () => {
    const fields = 'guard { atPct action modelPublicName } guardStatus guardActedAt';
    const change = (mutation: string, type: string, input: object) =>
      dataOf<Record<string, { apiKey: unknown }>>(
        api.url,
        `mutation ($input: ${type}!) { ${mutation}(input: $input) { apiKey { ${fields} } } }`,
        { token: api.token, variables: { input: { id: api.payer.keyId, ...input } } },
      );
    await limitKey(api.db.pool, api.payer, 1);
    const guard = { atPct: 50, action: 'FALLBACK_MODEL', modelPublicName: 'gateway/fast' };
    expect(await change('setApiKeyGuard', 'SetApiKeyGuardInput', { guard })).toEqual({
      setApiKeyGuard: { apiKey: { guard, guardStatus: 'ARMED', guardActedAt: null } },
    });
    await spend(60);
    const document =
      'mutation ($input: UndoApiKeyGuardInput!) { undoApiKeyGuard(input: $input) { apiKey { id } } }';
    const stale = await operate(api.url, document, {
      token: api.token,
      variables: { input: { id: api.payer.keyId, expected: { guard: null } } },
    });
    expect(codesOf(stale)).toEqual(['changed_meanwhile']);
    expect(await change('undoApiKeyGuard', 'UndoApiKeyGuardInput', { expected: { guard } })).toMatchObject({
      undoApiKeyGuard: { apiKey: { guardStatus: 'UNDONE' } },
    });
    expect(await change('setApiKeyGuard', 'SetApiKeyGuardInput', { guard: null })).toMatchObject({
      setApiKeyGuard: { apiKey: { guard: null, guardStatus: 'OFF' } },
    });
    const bad = `mutation ($id: ID!) { setApiKeyGuard(input: { id: $id, guard: { atPct: 0, action: SLOW } }) { apiKey { id } } }`;
    const answer = await operate(api.url, bad, { token: api.token, variables: { id: api.payer.keyId } });
    expect(codesOf(answer)).toEqual(['validation_error']);
  });
});

import { useStack } from '../support/stack-suite.js';
import { until } from '../support/until.js';
import { ask, FAST } from './support.js';

/** Through the edge, as everybody comes. */
describe('requests of one account that wait for their runs', () => {
  const suite = useStack();
  const sessionsOf = async (token: string): Promise<unknown[]> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${suite.url}/api/playground?limit=50`, { headers })).json() as Promise<unknown[]>;
  };

  test('eight at a time are all answered: those beyond six wait for their turn', async () => {
    const { token } = await suite.signUp();
    const statuses: number[] = [];
    let left = 80;
    const work = async () => {
      while (left-- > 0)
        statuses.push((await ask(suite.url, token, [FAST], 'Hi [[sim words=5 ttft_ms=100]]')).status);
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(statuses).toEqual(Array.from({ length: 80 }, () => 201));
  });

  test('one that leaves before its turn starts no run', async () => {
    const { token } = await suite.signUp('team');
    const slow = 'Slow. [[sim words=40 ttft_ms=10 chunk_ms=50]]';
    const waiting = Array.from({ length: 6 }, () => ask(suite.url, token, [FAST], slow));
    await until(async () => (await sessionsOf(token)).length === 6);
    const leaving = new AbortController();
    const left = fetch(`${suite.url}/api/playground`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'Hi', models: [FAST] }),
      signal: leaving.signal,
    });
    const last = ask(suite.url, token, [FAST], 'Hi');
    leaving.abort();
    await expect(left).rejects.toThrow();
    for (const { status } of await Promise.all([...waiting, last])) expect(status).toBe(201);
    expect(await sessionsOf(token)).toHaveLength(7);
  });
});

import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';
import { type Followed, follow, letIn, socketClient } from './support.js';

const CHANGES = 'subscription { accountChanged { changed balanceUsd planName } }';

interface Changed {
  accountChanged: { changed: string[]; balanceUsd: string; planName: string };
}

describe('accountChanged through the edge', () => {
  const suite = useProduct();
  const last = ({ results }: Followed<Changed>) => results.at(-1)?.data?.accountChanged;
  /**
   * Adds credit until that is reported: a new subscription sends nothing by itself. The last event contains all changes
   * so far.
   */
  const subscribed = (token: string, followed: Followed<Changed>) =>
    until(async () => {
      const { balance_usd: balance } = await suite.api<{ balance_usd: string }>(
        token,
        'POST',
        '/api/billing/topup',
        { amount_usd: 10 },
      );
      const reported = () => last(followed)?.balanceUsd === balance;
      await until(reported, { timeoutMs: 300 }).catch(() => undefined);
      return reported();
    });

  test('reports a top-up, a plan, a key and a refused call, each once, and to nobody else', async () => {
    const [ada, bob] = [await suite.signUp('pro'), await suite.signUp('free')];
    const clients = [ada, bob].map(({ token }) => socketClient(suite.url, { token }));
    const connected = clients.map(letIn);
    const [ofAda, ofBob] = clients.map((client) => follow<Changed>(client, CHANGES));
    await Promise.all(connected);
    await subscribed(ada.token, ofAda!);
    const { balance_usd: before } = await suite.api<{ balance_usd: string }>(
      ada.token,
      'GET',
      '/api/billing/balance',
    );
    const topUp = await suite.api<{ balance_usd: string }>(ada.token, 'POST', '/api/billing/topup', {
      amount_usd: 10,
    });
    // Sooner than a lost signal would be made good.
    await soonerThan(10_000, () => last(ofAda!)?.balanceUsd === topUp.balance_usd, 'the top-up');
    expect(Number(topUp.balance_usd) - Number(before)).toBe(10);
    expect(last(ofAda!)).toEqual({ changed: ['BALANCE'], balanceUsd: topUp.balance_usd, planName: 'pro' });

    let seen = ofAda!.results.length;
    /** The same event may also report a call that passed before its key was known to be disabled. */
    const reported = async (part: string): Promise<void> => {
      const isNotified = () =>
        ofAda!.results.slice(seen).some(({ data }) => data!.accountChanged.changed.includes(part));
      await soonerThan(10_000, isNotified, `a change of ${part}`);
      seen = ofAda!.results.length;
    };
    await suite.api(ada.token, 'PATCH', `/api/keys/${ada.keyId}`, { status: 'disabled' });
    await reported('KEYS');
    await until(async () => (await postChat(suite.url, ada.key)).status === 401);
    await reported('REFUSED_CALLS');
    expect(ofAda!.results.length).toBeGreaterThanOrEqual(4);
    await suite.api(ada.token, 'DELETE', `/api/keys/${ada.keyId}`);
    await reported('KEYS');
    expect(ofBob!.results).toEqual([]);
    for (const client of clients) await client.dispose();
  });

  test('reports a guard that is set, acts, is undone and is removed, and a changed limit', async () => {
    const ada = await suite.signUp('pro');
    const client = socketClient(suite.url, { token: ada.token });
    const connected = letIn(client);
    const followed = follow<Changed>(client, CHANGES);
    await connected;
    await subscribed(ada.token, followed);
    const path = `/api/keys/${ada.keyId}`;
    const patch = (change: object) => suite.api(ada.token, 'PATCH', path, change);
    const changes: [string, () => Promise<unknown>][] = [
      ['a limit', () => patch({ monthly_limit_usd: 0 })],
      ['a guard that is set', () => patch({ guard: { at_pct: 50, action: 'slow' } })],
      ['a guard that is changed', () => patch({ guard: { at_pct: 60, action: 'slow' } })],
      ['a guard that acts', () => postChat(suite.url, ada.key)],
      ['a guard that is undone', () => suite.api(ada.token, 'POST', `${path}/guard/undo`)],
      ['a guard that is removed', () => patch({ guard: null })],
      [
        'a limit of the month that becomes one of the day',
        () => patch({ monthly_limit_usd: null, daily_limit_usd: 0 }),
      ],
    ];
    for (const [what, change] of changes) {
      const before = followed.results.length;
      await change();
      const reported = (): boolean =>
        followed.results.slice(before).some(({ data }) => data!.accountChanged.changed.includes('KEYS'));
      // Sooner than a lost signal would be made good.
      await until(reported, { timeoutMs: 5_000, what });
    }
    await client.dispose();
  });
});

import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import { until } from '../support/until.js';
import { type Followed, follow, letIn, socketClient } from './support.js';

const USAGE = 'subscription { usageRecorded { id costUsd status modelPublicName apiKey { id name } } }';

interface Recorded {
  usageRecorded: {
    id: string;
    costUsd: string;
    status: string;
    apiKey: { id: string; name: string; spendTodayUsd: string } | null;
  };
}

describe('usageRecorded through the edge', () => {
  const suite = useProduct();

  /** Makes a call and gives its id. */
  const call = async (key: string): Promise<string> => {
    const answer = await postChat(suite.url, key);
    expect(answer.status).toBe(200);
    await answer.text();
    return answer.headers.get('x-request-id')!;
  };
  const reported = ({ results }: Followed<Recorded>) => results.map(({ data }) => data!.usageRecorded);
  /** Calls until a call is reported: a new subscription sends nothing by itself. Returns the ids of these calls. */
  const subscribed = async (key: string, followed: Followed<Recorded>): Promise<string[]> => {
    const ids: string[] = [];
    const begun = () => reported(followed).length > 0;
    await until(async () => {
      ids.push(await call(key));
      await until(begun, { timeoutMs: 300 }).catch(() => undefined);
      return begun();
    });
    return ids;
  };

  test('reports each call once to its caller, with its exact cost, and to nobody else', async () => {
    const [ada, bob] = [await suite.signUp(), await suite.signUp()];
    const clients = [ada, bob].map(({ token }) => socketClient(suite.url, { token }));
    const connected = clients.map(letIn);
    const [ofAda, ofBob] = clients.map((client) => follow<Recorded>(client, USAGE));
    await Promise.all(connected);
    const early = await subscribed(ada.key, ofAda!);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await call(ada.key));
    const reportedIds = () => reported(ofAda!).map(({ id }) => id);
    await until(() => ids.every((id) => reportedIds().includes(id)), { what: 'five events' });
    expect(new Set(reportedIds()).size).toBe(reportedIds().length);
    const fresh = reportedIds().filter((id) => !early.includes(id));
    expect(fresh.sort()).toEqual(ids.sort());
    for (const event of reported(ofAda!)) {
      expect(event).toMatchObject({ status: 'SUCCESS', apiKey: { id: ada.keyId } });
      expect(Number(event.costUsd)).toBeGreaterThan(0);
    }
    expect(ofBob!.results).toEqual([]);
    for (const client of clients) await client.dispose();
  });

  test('reads the key again for each event', async () => {
    const ada = await suite.signUp();
    const client = socketClient(suite.url, { token: ada.token });
    const events = follow<Recorded>(
      client,
      'subscription { usageRecorded { id apiKey { name spendTodayUsd } } }',
    );
    await subscribed(ada.key, events);
    const tellOf = (id: string) =>
      until(() => reported(events).find((event) => event.id === id), { what: 'the event' });
    const first = await tellOf(await call(ada.key));
    await suite.api(ada.token, 'PATCH', `/api/keys/${ada.keyId}`, { name: 'renamed' });
    const second = await tellOf(await call(ada.key));
    expect(second.apiKey!.name).toBe('renamed');
    expect(first.apiKey!.name).not.toBe('renamed');
    expect(Number(second.apiKey!.spendTodayUsd)).toBeGreaterThan(Number(first.apiKey!.spendTodayUsd));
    await client.dispose();
  });
});

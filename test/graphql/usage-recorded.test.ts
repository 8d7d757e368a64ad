import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import { until } from '../support/until.js';
import { dataOf, follow, letIn, socketClient } from './support.js';

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

  test('tells the caller of each call once, with its exact cost, and nobody else', async () => {
    const [ada, bob] = [await suite.signUp(), await suite.signUp()];
    const clients = [ada, bob].map(({ token }) => socketClient(suite.url, { token }));
    const connected = clients.map(letIn);
    const [ofAda, ofBob] = clients.map((client) => follow<Recorded>(client, USAGE));
    await Promise.all(connected);
    // A query over the same socket is answered after the subscription stands.
    await dataOf(suite.url, '{ viewer { id } }', { token: ada.token });
    const ids: string[] = [];
    for (let call = 0; call < 5; call++) {
      const answer = await postChat(suite.url, ada.key);
      expect(answer.status).toBe(200);
      ids.push(answer.headers.get('x-request-id')!);
    }
    await until(() => ofAda!.results.length >= 5, { what: 'five events' });
    const events = ofAda!.results.map(({ data }) => data!.usageRecorded);
    expect(events.map(({ id }) => id).sort()).toEqual(ids.sort());
    for (const event of events) {
      expect(event).toMatchObject({ status: 'SUCCESS', apiKey: { id: ada.keyId } });
      expect(Number(event.costUsd)).toBeGreaterThan(0);
    }
    expect(ofBob!.results).toEqual([]);
    for (const client of clients) await client.dispose();
  });

  test('reads the key again for each event', async () => {
    const ada = await suite.signUp();
    const client = socketClient(suite.url, { token: ada.token });
    const connected = letIn(client);
    const events = follow<Recorded>(
      client,
      'subscription { usageRecorded { apiKey { name spendTodayUsd } } }',
    );
    await connected;
    await dataOf(suite.url, '{ viewer { id } }', { token: ada.token });
    const namesOf = () => events.results.map(({ data }) => data!.usageRecorded.apiKey!.name);
    const call = async (count: number) => {
      await (await postChat(suite.url, ada.key)).text();
      await until(() => events.results.length >= count, { what: `${count} events` });
    };
    await call(1);
    await suite.api(ada.token, 'PATCH', `/api/keys/${ada.keyId}`, { name: 'renamed' });
    await call(2);
    expect(namesOf()[1]).toBe('renamed');
    expect(namesOf()[0]).not.toBe('renamed');
    const [first, second] = events.results.map(({ data }) =>
      Number(data!.usageRecorded.apiKey!.spendTodayUsd),
    );
    expect(second).toBeGreaterThan(first!);
    await client.dispose();
  });
});

import { postChat } from '../support/edge.js';
import { useStack } from '../support/stack-suite.js';
import { until } from '../support/until.js';
import { dataOf, follow, socketClient } from './support.js';

const USAGE = 'subscription { usageRecorded { id costUsd status modelPublicName apiKey { id name } } }';

interface Recorded {
  usageRecorded: { id: string; costUsd: string; status: string; apiKey: { id: string } | null };
}

describe('usageRecorded through the edge', () => {
  const suite = useStack();

  test('tells the caller of each call once, with its exact cost, and nobody else', async () => {
    const [ada, bob] = [await suite.stack.signUp(), await suite.stack.signUp()];
    const clients = [ada, bob].map(({ token }) => socketClient(suite.stack.url, { token }));
    const [ofAda, ofBob] = clients.map((client) => follow<Recorded>(client, USAGE));
    await until(() => suite.stack.platform.app.websocketServer.clients.size === 2, {
      what: 'both to be connected',
    });
    // A query over the same socket is answered after the subscription stands.
    await dataOf(suite.stack.url, '{ viewer { id } }', { token: ada.token });
    const ids: string[] = [];
    for (let call = 0; call < 5; call++) {
      const answer = await postChat(suite.stack.url, ada.key);
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
});

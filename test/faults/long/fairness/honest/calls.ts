import { Agent } from 'node:http';
import { letIn, socketClient } from '../../../../graphql/support.js';
import { until } from '../../../../support/until.js';
import { type Entry, outcome } from '../../../rig/client.js';
import { from } from '../accounts.js';
import type { Account } from '../messages.js';
import { evenly, type Watch } from './watch.js';

const PER_SECOND = 20;
/** Every nth call is a stream. */
const STREAMS = 4;
/** An event that hasn't arrived by then is lost. */
const EVENT_PATIENCE_MS = 30_000;
const PROBE_MS = 1_000;
const agent = new Agent({ keepAlive: true });

/** Calls of `/v1`, and for each the live event of its account's subscription. */
export async function honestCalls(watch: Watch): Promise<void> {
  const arrived = new Map<string, number>();
  const clients = await Promise.all(watch.accounts.map((account) => subscribe(watch, account, arrived)));
  const entries: Entry[] = [];
  await evenly(watch, PER_SECOND, async ({ key }, i) => {
    const order = { words: 1 + (i % 20), ttftMs: i % 10 };
    const entry = await watch.journal.call(watch.url, key, order, { stream: i % STREAMS === 0, agent });
    entries.push(entry);
    if (outcome(entry) === '200') watch.note('/v1 call', entry.tookMs);
    else watch.fault(`/v1 call ${entry.id} ended with ${outcome(entry)}`);
  });
  const missing = () => entries.filter((entry) => entry.complete && !arrived.has(entry.id!));
  await until(() => missing().length === 0, { timeoutMs: EVENT_PATIENCE_MS }).catch(() => undefined);
  for (const { id } of missing()) watch.fault(`the live event of call ${id} did not arrive`);
  for (const entry of entries) {
    const at = arrived.get(entry.id!);
    // It may come before the last byte of the call's answer does.
    if (at !== undefined) watch.note('live event', Math.max(0, at - entry.startedAt - entry.tookMs));
  }
  await Promise.all(clients.map((client) => client.dispose()));
}

/** Records when each event of an account arrives. Resolves once the subscription is open. */
async function subscribe(watch: Watch, { token, address, key }: Account, arrived: Map<string, number>) {
  const client = socketClient(watch.url, { token, headers: from(address) });
  const connected = letIn(client);
  client.subscribe<{ usageRecorded: { id: string } }>(
    { query: 'subscription { usageRecorded { id } }' },
    {
      next({ data, errors }) {
        if (data) arrived.set(data.usageRecorded.id, performance.now());
        else watch.fault(`a live event failed: ${JSON.stringify(errors)}`);
      },
      error: (error) => watch.fault(`a subscription ended: ${JSON.stringify(error)}`),
      complete: () => undefined,
    },
  );
  await connected;
  // The only sign of an open subscription is an event.
  await until(
    async () => {
      const { id } = await watch.journal.call(watch.url, key, { words: 1 }, { agent });
      return until(() => arrived.has(id!), { timeoutMs: PROBE_MS }).catch(() => undefined);
    },
    { timeoutMs: EVENT_PATIENCE_MS, what: 'the subscription to tell of a call' },
  );
  return client;
}

import { Agent } from 'node:http';
import { follow, letIn, operate, socketClient } from '../../../../graphql/support.js';
import { until } from '../../../../support/until.js';
import { type Entry, outcome } from '../../../rig/client.js';
import { from } from '../accounts.js';
import type { Account } from '../messages.js';
import { evenly, type Watch } from './watch.js';

const PER_SECOND = 20;
/** Every so manyth is a stream. */
const STREAMS = 4;
/** An event that hasn't come by then is lost. */
const EVENT_PATIENCE_MS = 30_000;
const agent = new Agent({ keepAlive: true });

/** Calls of `/v1`, and for each the event that a subscription of its account tells live. */
export async function honestCalls(watch: Watch): Promise<void> {
  const told = new Map<string, number>();
  const clients = await Promise.all(watch.accounts.map((account) => subscribe(watch, account, told)));
  const entries: Entry[] = [];
  await evenly(watch, PER_SECOND, async ({ key }, i) => {
    const order = { words: 1 + (i % 20), ttftMs: i % 10 };
    const entry = await watch.journal.call(watch.url, key, order, { stream: i % STREAMS === 0, agent });
    entries.push(entry);
    if (outcome(entry) === '200') watch.note('/v1 call', entry.tookMs);
    else watch.fault(`/v1 call ${entry.id} ended with ${outcome(entry)}`);
  });
  const missing = () => entries.filter((entry) => entry.complete && !told.has(entry.id!));
  await until(() => missing().length === 0, { timeoutMs: EVENT_PATIENCE_MS }).catch(() => undefined);
  for (const { id } of missing()) watch.fault(`the event of call ${id} was not told live`);
  for (const entry of entries) {
    const at = told.get(entry.id!);
    // It may come before the last byte of the call's answer does.
    if (at !== undefined) watch.note('live event', Math.max(0, at - entry.startedAt - entry.tookMs));
  }
  await Promise.all(clients.map((client) => client.dispose()));
}

/** Writes down when each event of an account is told; resolves once the subscription stands. */
async function subscribe(watch: Watch, { token, address }: Account, told: Map<string, number>) {
  const client = socketClient(watch.url, { token, headers: from(address) });
  const connected = letIn(client);
  client.subscribe<{ usageRecorded: { id: string } }>(
    { query: 'subscription { usageRecorded { id } }' },
    {
      next({ data, errors }) {
        if (data) told.set(data.usageRecorded.id, performance.now());
        else watch.fault(`a live event failed: ${JSON.stringify(errors)}`);
      },
      error: (error) => watch.fault(`a subscription ended: ${JSON.stringify(error)}`),
      complete: () => undefined,
    },
  );
  await connected;
  // An operation behind it on the same connection is answered once it stands.
  const query = follow(client, '{ viewer { id } }');
  await until(() => query.ended, { what: 'the subscription to stand' });
  await operate(watch.url, '{ viewer { id } }', { token, headers: from(address) });
  return client;
}

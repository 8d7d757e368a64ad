import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'graphql-ws';
import { socketClient } from '../../../../graphql/support.js';
import { Journal, outcome, steadyLoad } from '../../../rig/client.js';
import { addressIn, from, newAccount } from '../accounts.js';
import type { Attack, Target } from '../attack.js';
import type { Account } from '../messages.js';

const ACCOUNTS = 16;
const CONNECTIONS = 10;
const OPERATIONS = 20;
/** For all accounts together: each plan allows twenty calls per minute. */
const CALLS_PER_SECOND = 5;
const STEP_MS = 50;
const BLOCK = 38;
const QUERIES = ['subscription { usageRecorded { id } }', 'subscription { alertFired { id } }'];

/** 3,200 subscriptions of sixteen accounts, as far as the limits allow, and calls that notify all of them. */
export const subscriptions: Attack = async (target) => {
  const accounts: Account[] = [];
  for (let n = 0; n < ACCOUNTS; n++) accounts.push(await newAccount(target.url, addressIn(BLOCK, n)));
  const journal = new Journal();
  return async () => {
    const clients: Client[] = [];
    for (let n = 0; n < ACCOUNTS * CONNECTIONS && !target.over(); n++) {
      clients.push(connect(target, accounts[n % ACCOUNTS]!));
      await pause(STEP_MS);
    }
    await steadyLoad(CALLS_PER_SECOND, target.over, async (i) =>
      target.count(
        'calls of accounts with subscriptions',
        outcome(await journal.call(target.url, accounts[i % ACCOUNTS]!.key)),
      ),
    );
    await Promise.all(clients.map((client) => client.dispose()));
  };
};

function connect(target: Target, { token, address }: Account): Client {
  const client = socketClient(target.url, { token, headers: from(address) });
  for (let n = 0; n < OPERATIONS; n++) {
    target.count('subscriptions', 'asked for');
    client.subscribe(
      { query: QUERIES[n % QUERIES.length]! },
      {
        next: () => target.count('subscriptions', 'notified'),
        error: () => target.count('subscriptions', 'refused'),
        complete: () => undefined,
      },
    );
  }
  return client;
}

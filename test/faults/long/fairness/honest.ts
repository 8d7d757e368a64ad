import { startReceiver } from '../../../alerts/delivery/receiver.js';
import { Journal } from '../../rig/client.js';
import { serveOrders, startEffort } from './child.js';
import { type Arrivals, createArrivals, honestAlerts } from './honest/alerts.js';
import { honestCalls } from './honest/calls.js';
import { honestReads } from './honest/reads.js';
import { honestTopUps } from './honest/top-ups.js';
import type { Watch } from './honest/watch.js';
import { startMailSink } from './mail-sink.js';
import { FIGURES, type Figure, type HonestOrder, type Seen } from './messages.js';

/** Honest accounts at an even pace, in a separate process, with their mail server and webhook receiver. */
const arrivals: Arrivals = createArrivals();
const mails = await startMailSink((address, at) => arrivals.came(address, at));
const receiver = await startReceiver({
  onRequest: ({ path, at }) => {
    arrivals.came(path, at);
    return undefined;
  },
});

async function watch({ url, accounts, watchMs }: HonestOrder): Promise<Seen> {
  const times = Object.fromEntries(FIGURES.map((figure) => [figure, [] as number[]])) as Record<
    Figure,
    number[]
  >;
  const faults: string[] = [];
  const journal = new Journal();
  const ends = performance.now() + watchMs;
  const watched: Watch = {
    ...{ url, accounts, journal },
    over: () => performance.now() > ends,
    note: (figure, ms) => void times[figure].push(ms),
    fault: (text) => void faults.push(text),
  };
  const effort = startEffort();
  const [alerts] = await Promise.all([
    honestAlerts(watched, arrivals, receiver.url),
    honestCalls(watched),
    ...honestReads(watched),
    honestTopUps(watched),
  ]);
  return { times, faults, entries: journal.entries, alerts, effort: effort() };
}

serveOrders({
  addresses: async () => ({ smtpUrl: mails.url }),
  watch,
  mails: async () => mails.counts,
});

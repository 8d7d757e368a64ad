import { type Duplex, duplexPair } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { CounterHub } from '../../../src/inference/limits/machine/counter-hub.js';
import { CounterLink } from '../../../src/inference/limits/machine/counter-link.js';
import { readFrames } from '../../../src/inference/limits/machine/frames.js';
import { MachineNetworks } from '../../../src/inference/limits/machine/machine-networks.js';
import { createLogger } from '../../../src/lib/logger.js';
import { networksOf } from '../../../src/lib/network.js';
import { NetworkBudget } from '../../../src/lib/network-budget.js';
import { testClock } from '../../support/clock.js';
import { until } from '../../support/until.js';

const STRANGER = networksOf('198.51.100.7');
const NEIGHBOUR = networksOf('198.51.100.8');
/** Of the stranger's /24, in a minute. */
const SHARE = 1_200;
const REFUSALS = 2_000;
/** Of two edges that are told of a network in the middle of a turn. */
const UNDER_WAY = 2;

/** Decision 0170: what strangers are refused counts for all edges of a machine. */
describe('strangers at several edges of one machine', () => {
  const clock = testClock();
  let counter: CounterHub;
  let links: CounterLink[];
  /** Kinds of all words so far. */
  let told: string[];
  let heard: string[];
  beforeEach(() => {
    counter = new CounterHub(clock, createLogger('edges', 'silent'));
    links = [];
    told = [];
    heard = [];
  });
  afterEach(async () => {
    await Promise.all(links.map((link) => link.stop()));
    counter.stop();
  });

  async function startEdge(): Promise<MachineNetworks> {
    const [ours, theirs] = duplexPair() as [Duplex, Duplex];
    const kindTo = (kinds: string[]) => ({
      words: (words: unknown) => void kinds.push((words as { kind: string }).kind),
    });
    counter.join(theirs);
    const link = new CounterLink(ours, 10_000);
    readFrames(ours, kindTo(heard));
    readFrames(theirs, kindTo(told));
    links.push(link);
    await link.ready;
    return new MachineNetworks(new NetworkBudget(clock, 'Too many.'), link);
  }
  const countOf = (kinds: string[], kind: string) => kinds.filter((one) => one === kind).length;
  const refuses = (edge: MachineNetworks, networks = STRANGER): boolean => {
    try {
      edge.require(networks);
      return false;
    } catch {
      return true;
    }
  };
  async function storm(edges: MachineNetworks[], refusals = REFUSALS): Promise<void> {
    for (let nth = 0; nth < refusals; nth++) {
      edges[nth % edges.length]!.count(STRANGER);
      // To the counting process and back.
      for (let turns = 0; turns < 4; turns++) await turn();
    }
  }

  test('cost no more words in either direction once their network has had its share', async () => {
    const edges = [await startEdge(), await startEdge()];
    await storm(edges);
    expect(countOf(told, 'refused')).toBeGreaterThanOrEqual(SHARE);
    expect(countOf(told, 'refused')).toBeLessThanOrEqual(SHARE + UNDER_WAY);
    // Its address and its /24, to each edge.
    expect(countOf(heard, 'spent')).toBe(2 * edges.length);
    for (const edge of edges) expect([refuses(edge), refuses(edge, NEIGHBOUR)]).toEqual([true, true]);
  });

  test('are known to an edge that starts later, with the first that it refuses', async () => {
    await storm([await startEdge()]);
    const later = await startEdge();
    expect(refuses(later)).toBe(false);
    later.count(STRANGER);
    await until(() => refuses(later), { timeoutMs: 5_000 });
    expect(refuses(later, NEIGHBOUR)).toBe(true);
  });

  test('begin anew with the next minute', async () => {
    const edges = [await startEdge(), await startEdge()];
    await storm(edges);
    const before = countOf(told, 'refused');
    clock.advance(60_000);
    expect(edges.map((edge) => refuses(edge))).toEqual([false, false]);
    await storm(edges);
    expect(countOf(told, 'refused') - before).toBeGreaterThanOrEqual(SHARE);
    for (const edge of edges) expect(refuses(edge)).toBe(true);
  });
});

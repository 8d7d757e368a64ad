import { Random } from '../../hostile/fuzz/random.js';
import { seedFrom } from '../../support/seed.js';
import { LONG, sized } from '../../support/size.js';
import { CLOSED, explained, REFUSED, TAKEN, unexplained } from './answers/differences.js';
import { anyAnswer } from './answers/grammar.js';
import { nodes, ours, undicis } from './answers/readers.js';

const ANSWERS = sized(4_000, 1_000_000);
/** Read at once, each by three clients. */
const BATCH = 200;
const SHOWN = 5;

interface Tally {
  accepted: number;
  reused: number;
  /** How often each deliberate difference was seen. */
  seen: Map<string, number>;
  faults: { who: string; what: string; pieces: string[] }[];
}

async function readByAll(pieces: Buffer[], tally: Tally): Promise<void> {
  const [own, byNode, byUndici] = await Promise.all([ours(pieces), nodes(pieces), undicis(pieces)]);
  const text = Buffer.concat(pieces).toString('latin1');
  if (own.accepted) tally.accepted++;
  if (own.reused) tally.reused++;
  for (const [who, other] of [
    ['node', byNode],
    ['undici', byUndici],
  ] as const) {
    const what = unexplained(text, own, other);
    if (what) tally.faults.push({ who, what, pieces: pieces.map((piece) => piece.toString('latin1')) });
    for (const { what } of explained(text, own, other)) tally.seen.set(what, (tally.seen.get(what) ?? 0) + 1);
  }
}

describe('our client, node:http’s and undici’s', () => {
  test(
    `agree on ${ANSWERS} answers: which are taken, their bodies, and which connections serve again`,
    async () => {
      const seed = seedFrom('FUZZ_SEED');
      const random = new Random(seed);
      const tally: Tally = { accepted: 0, reused: 0, seen: new Map(), faults: [] };
      for (let done = 0; done < ANSWERS && tally.faults.length < SHOWN; done += BATCH) {
        await Promise.all(Array.from({ length: BATCH }, () => readByAll(anyAnswer(random), tally)));
      }
      expect({ seed, faults: tally.faults.slice(0, SHOWN) }).toEqual({ seed, faults: [] });
      // Most answers have a fault; these were whole all the same.
      expect(tally.accepted).toBeGreaterThan(ANSWERS / 6);
      expect(tally.reused).toBeGreaterThan(ANSWERS / 20);
      if (!LONG) return;
      // What nobody sees is no difference.
      const unseen = [...REFUSED, ...CLOSED, ...TAKEN].filter(({ what }) => !tally.seen.has(what));
      expect(unseen).toEqual([]);
    },
    sized(60_000, 7_200_000),
  );
});

import { requireViewer, type ServiceContext } from '../../context.js';
import { asOwnWork } from '../../lib/work-owner.js';
import type { ServiceDeps } from '../deps.js';
import { everyonesBands, ownBands } from './band-hours.store.js';
import { contender } from './entries.rules.js';
import type { LeaderboardInput } from './leaderboard.inputs.js';
import type { Board, createLeaderboardService } from './leaderboard.service.js';
import type { LeaderboardMixOutput, MixEntryOutput } from './mix.outputs.js';
import {
  type BandSketches,
  blendedPrice,
  byModel,
  mixContender,
  mixEntry,
  mixOf,
  mixtureP95,
  weightsOf,
} from './mix.rules.js';
import { readPublic } from './quiet-hours.store.js';
import { rank } from './ranking.rules.js';

const NONE: BandSketches = new Map();
const EMBEDDING = 'embedding';

const inOrder = (a: MixEntryOutput, b: MixEntryOutput): number =>
  (a.rank ?? Number.POSITIVE_INFINITY) - (b.rank ?? Number.POSITIVE_INFINITY) ||
  (b.ranking_score ?? 0) - (a.ranking_score ?? 0) ||
  b.requests - a.requests;

/** The leaderboard weighted by one account's usage. */
export function createLeaderboardMixService(
  { config }: Pick<ServiceDeps, 'config'>,
  leaderboard: Pick<ReturnType<typeof createLeaderboardService>, 'board'>,
) {
  /** Latencies of all accounts, read once per board. */
  const known = new WeakMap<Board, Promise<Map<string, BandSketches>>>();

  function everyonesOf({ em }: ServiceContext, board: Board): Promise<Map<string, BandSketches>> {
    const leastAccounts = config.leaderboardMinAccounts;
    const reading =
      known.get(board) ??
      // Hours may have been rolled up since the board was read.
      asOwnWork(() =>
        readPublic(em, { from: board.from, leastAccounts }, (own, counted) =>
          everyonesBands(own, counted, leastAccounts),
        ),
      ).then(byModel);
    known.set(board, reading);
    reading.catch(() => known.delete(board));
    return reading;
  }

  return {
    /**
     * The viewer's 95th percentile next to everyone's for answers of the same lengths, and the models ranked for the
     * viewer's mix of lengths and tokens. Only chat models are ranked; an account without calls gets no ranks.
     */
    async mix(
      context: ServiceContext,
      { window_days }: Pick<LeaderboardInput, 'window_days'>,
    ): Promise<LeaderboardMixOutput> {
      const { accountId } = requireViewer(context);
      const board = await leaderboard.board(context, window_days);
      const everyones = await everyonesOf(context, board);
      const own = await ownBands(context.em.fork(), accountId, board.from);
      const sketches = byModel(own.points);
      const families = new Map(board.figures.map(({ model }) => [model.publicName, model.family]));
      const isChat = (name: string): boolean => families.get(name) !== EMBEDDING;
      const chats = own.bands.filter(({ model }) => isChat(model));
      const mix = mixOf(chats);
      const weights = weightsOf(chats);
      const lines = board.figures.map((figures) => {
        const { publicName } = figures.model;
        const everyone = everyones.get(publicName) ?? NONE;
        const line = { figures, publicName, everyone };
        // The mix covers chat calls only.
        if (!isChat(publicName)) return { ...line, mixture: undefined, price: null };
        return { ...line, mixture: mixtureP95(everyone, weights), price: blendedPrice(figures.model, mix) };
      });
      const standings = rank(
        lines.flatMap(({ figures, publicName, ...line }) =>
          board.standings.has(publicName) ? (mixContender(contender(figures), line) ?? []) : [],
        ),
      );
      const entries = lines.map(({ figures, publicName, everyone, mixture, price }) =>
        mixEntry(
          figures.model,
          own.bands.filter(({ model }) => model === publicName),
          { own: sketches.get(publicName) ?? NONE, everyone },
          { mixture, price, standing: standings.get(publicName) },
        ),
      );
      return { window_days, generated_at: board.generatedAt, mix, entries: entries.toSorted(inOrder) };
    },
  };
}

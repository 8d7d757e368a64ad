import { formatCount, formatRate } from '../../ui/format';
import { Tile, Tiles } from '../../ui/tiles';
import { type Board, lengthOf } from './answer-lengths';

/** The basis of the ranks: the account's chat calls. */
export function YourMix({ mix }: { mix: Board['mix'] | undefined }) {
  const each = (tokens: number): string => formatCount(Math.round(tokens / (mix?.requests || 1)));
  const most = mix?.bands.toSorted((a, b) => b.share - a.share)[0];
  return (
    <Tiles>
      <Tile label="Your chat calls" note="successful, all models">
        {mix && formatCount(mix.requests)}
      </Tile>
      <Tile label="Input tokens per call" note="mean">
        {mix && (mix.requests === 0 ? '–' : each(mix.inputTokens))}
      </Tile>
      <Tile label="Output tokens per call" note="mean">
        {mix && (mix.requests === 0 ? '–' : each(mix.outputTokens))}
      </Tile>
      <Tile label="Most common answer length" note={most && lengthOf(most)}>
        {mix && (most ? formatRate(most.share) : '–')}
      </Tile>
    </Tiles>
  );
}

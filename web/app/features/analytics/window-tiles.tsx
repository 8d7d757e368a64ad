import type { WindowTotalsFragment } from '../../../generated/graphql';
import { Change } from '../../ui/change';
import { formatCount, formatLatency, formatRate } from '../../ui/format';
import { Money } from '../../ui/money';
import { Tile, Tiles } from '../../ui/tiles';
import { windowName } from './window';

interface WindowTilesProps {
  now: WindowTotalsFragment | undefined;
  before: WindowTotalsFragment | undefined;
  windowDays: number;
}

/** The figures of a window, each with how it differs from the window before. */
export function WindowTiles({ now, before, windowDays }: WindowTilesProps) {
  const changed = (figure: (totals: WindowTotalsFragment) => number) =>
    now && before && <Change now={figure(now)} before={figure(before)} window={windowName(windowDays)} />;
  // Of what was never called there is no rate.
  const called = now !== undefined && now.totalRequests > 0;
  return (
    <Tiles>
      <Tile label="Spend" note={changed(({ totalCostUsd }) => Number(totalCostUsd))}>
        {now && <Money usd={now.totalCostUsd} />}
      </Tile>
      <Tile label="Requests" note={changed(({ totalRequests }) => totalRequests)}>
        {now && formatCount(now.totalRequests)}
      </Tile>
      <Tile label="Error rate" note={changed(({ errorRate }) => errorRate)}>
        {now && (called ? formatRate(now.errorRate) : '–')}
      </Tile>
      <Tile label="Latency, median" note={changed(({ p50LatencyMs }) => p50LatencyMs)}>
        {now && (called ? formatLatency(now.p50LatencyMs) : '–')}
      </Tile>
      <Tile label="Latency, 95 %" note={changed(({ p95LatencyMs }) => p95LatencyMs)}>
        {now && (called ? formatLatency(now.p95LatencyMs) : '–')}
      </Tile>
    </Tiles>
  );
}

import type { ReactNode } from 'react';
import type { VersionFiguresFragment } from '../../../generated/graphql';
import { formatCount, formatLatency, formatRate } from '../../ui/format';
import { Money } from '../../ui/money';
import classes from './version-figures.module.css';

type Figures = VersionFiguresFragment;

const ROWS: readonly { label: string; of(figures: Figures): ReactNode }[] = [
  { label: 'Calls', of: ({ requests }) => formatCount(requests) },
  { label: 'Errors', of: ({ errors }) => formatCount(errors) },
  { label: 'Error rate, 95% interval', of: (figures) => <Interval figures={figures} /> },
  { label: 'Latency, median', of: (figures) => latency(figures, figures.p50LatencyMs) },
  { label: 'Latency, p95', of: (figures) => latency(figures, figures.p95LatencyMs) },
  { label: 'Tokens in', of: ({ inputTokens }) => formatCount(inputTokens) },
  { label: 'Tokens out', of: ({ outputTokens }) => formatCount(outputTokens) },
  { label: 'Cost', of: ({ costUsd }) => <Money usd={costUsd} /> },
];

/** Percentiles only include successful calls. */
const latency = ({ requests, errors }: Figures, ms: number): string =>
  requests === errors ? '–' : formatLatency(ms);

/** The figures of one version, or of two side by side. */
export function VersionFigures({ versions }: { versions: readonly Figures[] }) {
  return (
    <table className={classes.figures}>
      <thead>
        <tr>
          <th scope="col">Calls with this version</th>
          {versions.map(({ version }) => (
            <th key={version} scope="col">
              Version {version}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {ROWS.map(({ label, of }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            {versions.map((figures) => (
              <td key={figures.version}>{of(figures)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** An error rate with its confidence interval. */
function Interval({ figures }: { figures: Figures }) {
  const { requests, errorRate, errorRateLow: low, errorRateHigh: high } = figures;
  if (requests === 0) return '–';
  return (
    <span className={classes.interval}>
      <span>
        {formatRate(errorRate)}{' '}
        <span className={classes.range}>
          {formatRate(low)} to {formatRate(high)}
        </span>
      </span>
      <span className={classes.track} aria-hidden="true">
        <span style={{ left: `${low * 100}%`, width: `${Math.max(1, (high - low) * 100)}%` }} />
        <i style={{ left: `${errorRate * 100}%` }} />
      </span>
    </span>
  );
}

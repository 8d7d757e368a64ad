import { Link } from '@tanstack/react-router';
import type { SeriesPointFragment } from '../../../generated/graphql';
import { paths } from '../../paths';
import { Awaiting } from '../../ui/awaiting';
import { Empty } from '../../ui/empty';
import { counted, formatCount } from '../../ui/format';
import { Money } from '../../ui/money';
import { Section } from '../../ui/section';
import { SimulatedMark } from '../../ui/simulated';
import { Waiting } from '../../ui/waiting';
import { amountOf, type Measure, type ModelSums, modelsBy } from './series.rules';
import classes from './top-models.module.css';
import type { WindowDays } from './window';

interface TopModelsProps {
  points: readonly SeriesPointFragment[] | undefined;
  measure: Measure;
  windowDays: WindowDays;
  awaiting: boolean;
  /** Only calls with this key. */
  keyId?: string;
}

function Figure({ sums, measure }: { sums: ModelSums; measure: Measure }) {
  if (measure === 'cost') return <Money usd={sums.costUsd} />;
  return (
    <>
      {formatCount(sums[measure])}
      <span className={classes.word}> {measure}</span>
    </>
  );
}

/** The called models, by the chosen measure; each links to its calls. */
export function TopModels({ points, measure, windowDays, awaiting, keyId }: TopModelsProps) {
  const models = points && modelsBy(points, measure);
  const most = Math.max(...(models ?? []).map((sums) => amountOf(sums, measure)), 0);
  return (
    <Section title="Models">
      {!models && <Waiting height={96} />}
      {models?.length === 0 && <Empty>No calls in this window.</Empty>}
      <Awaiting awaiting={awaiting}>
        <ul className={classes.models}>
          {models?.map((sums) => (
            <li key={sums.model}>
              <span>
                <Link
                  to={paths.usage}
                  search={{ model: sums.model, window: windowDays, ...(keyId && { key: keyId }) }}
                  title="Show these calls"
                >
                  {sums.model}
                </Link>
                <SimulatedMark model={sums.model} />
              </span>
              <span className={classes.bar} aria-hidden="true">
                <span style={{ width: `${most === 0 ? 0 : (amountOf(sums, measure) / most) * 100}%` }} />
              </span>
              <span className={classes.figure}>
                <Figure sums={sums} measure={measure} />
              </span>
              <span className={classes.figure}>
                {measure === 'requests' ? <Money usd={sums.costUsd} /> : counted(sums.requests, 'call')}
              </span>
            </li>
          ))}
        </ul>
      </Awaiting>
    </Section>
  );
}

import { Link } from '@tanstack/react-router';
import type { WindowFiguresFragment } from '../../../generated/graphql';
import { paths } from '../../paths';
import { Empty } from '../../ui/empty';
import { formatCount } from '../../ui/format';
import { Money } from '../../ui/money';
import { Section } from '../../ui/section';
import { Waiting } from '../../ui/waiting';
import classes from './top-models.module.css';
import type { WindowDays } from './window';

interface TopModelsProps {
  models: WindowFiguresFragment['topModels'] | undefined;
  windowDays: WindowDays;
  /** Only calls with this key are meant. */
  keyId?: string;
}

/** The models with the most calls; each leads to its calls. */
export function TopModels({ models, windowDays, keyId }: TopModelsProps) {
  const most = Math.max(...(models ?? []).map(({ requests }) => requests), 1);
  return (
    <Section title="Models">
      {!models && <Waiting height={96} />}
      {models?.length === 0 && <Empty>The models that were called in this window will stand here.</Empty>}
      <ul className={classes.models}>
        {models?.map(({ modelPublicName, requests, costUsd }) => (
          <li key={modelPublicName}>
            <Link
              to={paths.usage}
              search={{ model: modelPublicName, window: windowDays, ...(keyId && { key: keyId }) }}
              title="Show these calls"
            >
              {modelPublicName}
            </Link>
            <span className={classes.bar} aria-hidden="true">
              <span style={{ width: `${(requests / most) * 100}%` }} />
            </span>
            <span className={classes.figure}>
              {formatCount(requests)}
              <span className={classes.word}> calls</span>
            </span>
            <span className={classes.figure}>
              <Money usd={costUsd} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

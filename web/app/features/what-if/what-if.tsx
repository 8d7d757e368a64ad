import { Button, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { PricedModelsDocument, WhatIfDocument, type WhatIfQuery } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { counted, formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Money } from '../../ui/money';
import { Section } from '../../ui/section';
import { Tile, Tiles } from '../../ui/tiles';
import { refreshMsOf, type WindowDays } from '../analytics/window';
import classes from './what-if.module.css';

interface WhatIfProps {
  /** Which calls are priced: `the calls of version 3`. */
  what: string;
  windowDays: WindowDays;
  /** Only calls with this key. */
  keyId?: string;
  /** Only calls that named this version of a prompt. */
  promptVersionId?: string;
}

type Estimate = NonNullable<NonNullable<WhatIfQuery['viewer']>['whatIf']>;

/** Prices the calls of the last days on another model, by the tokens they used. */
export function WhatIf(props: WhatIfProps) {
  const [opened, setOpened] = useState(false);
  const { what, windowDays } = props;
  return (
    <Section title="What would it have cost?">
      <p className={classes.hint}>
        Prices {what} {windowDays === 1 ? 'today' : `in the last ${windowDays} days`} on another model, by the
        tokens they used. Another model may count and answer differently.
      </p>
      {opened ? (
        <ModelAndPrice {...props} />
      ) : (
        <div>
          <Button variant="default" onClick={() => setOpened(true)}>
            Price on another model
          </Button>
        </div>
      )}
    </Section>
  );
}

function ModelAndPrice({ windowDays, keyId, promptVersionId }: WhatIfProps) {
  const [chosen, setChosen] = useState<string>();
  const priced = usePageQuery({ query: PricedModelsDocument, variables: {} });
  const names = (priced.data?.models ?? []).map(({ modelPublicName }) => modelPublicName);
  return (
    <div className={classes.whatIf}>
      {priced.error && !priced.data && <LoadError error={priced.error} onRetry={priced.refresh} />}
      <NativeSelect
        className={classes.model!}
        label="Model"
        data={[
          { value: '', label: 'Choose a model' },
          ...names.map((name) => ({ value: name, label: name })),
        ]}
        value={chosen ?? ''}
        onChange={({ currentTarget }) => setChosen(currentTarget.value || undefined)}
      />
      {chosen && (
        <Priced
          model={chosen}
          window={windowDays}
          keyId={keyId ?? null}
          promptVersionId={promptVersionId ?? null}
        />
      )}
    </div>
  );
}

interface PricedProps {
  model: string;
  window: WindowDays;
  keyId: string | null;
  promptVersionId: string | null;
}

function Priced(variables: PricedProps) {
  const { data, error, awaiting, refresh } = usePageQuery({ query: WhatIfDocument, variables });
  useRefreshOnUsage(refresh, refreshMsOf(variables.window));
  const estimate = awaiting ? undefined : (data?.viewer?.whatIf ?? undefined);
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      {(estimate || !error) && (
        <Tiles>
          <Tile label="Cost" note={estimate && counted(estimate.requests, 'call')}>
            {estimate && <Money usd={estimate.actualCostUsd} />}
          </Tile>
          <Tile label={`On ${variables.model}`} note={estimate && tokens(estimate)}>
            {estimate && <Money usd={estimate.estimatedCostUsd} />}
          </Tile>
          <Tile label="Difference" note={estimate && verdict(estimate)}>
            {estimate && <Money usd={estimate.differenceUsd} signed />}
          </Tile>
        </Tiles>
      )}
    </>
  );
}

const tokens = ({ inputTokens, outputTokens }: Estimate): string =>
  `${formatCount(inputTokens)} tokens in, ${formatCount(outputTokens)} out`;

function verdict({ differenceUsd, requests }: Estimate): string {
  const difference = Number(differenceUsd);
  if (requests === 0) return 'no calls to price';
  if (difference === 0) return 'the same';
  return difference < 0 ? 'cheaper' : 'more expensive';
}

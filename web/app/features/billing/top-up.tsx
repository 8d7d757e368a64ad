import { Button } from '@mantine/core';
import { useState } from 'react';
import { TOP_UP_AMOUNTS } from '../../../../src/services/billing/billing.inputs';
import { TopUpDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { ASK_FOR_CREDIT, lastsFor, useCanTopUp, useOutlook } from '../../shell/use-outlook';
import { ErrorNote } from '../../ui/error-note';
import { Money } from '../../ui/money';
import { Note } from '../../ui/note';
import { Tile, Tiles } from '../../ui/tiles';
import classes from './billing.module.css';
import { newIdempotencyKey } from './idempotency-key';

/** The balance, and five amounts to add where users can add credit. */
export function TopUp({ balanceUsd }: { balanceUsd: string | undefined }) {
  const canTopUp = useCanTopUp();
  const { daysLeft } = useOutlook(balanceUsd);
  return (
    <div className={classes.topUp}>
      <Tiles>
        <Tile
          label="Balance"
          note={
            daysLeft === null
              ? 'Calls stop below $0.001'
              : `Lasts ${lastsFor(daysLeft)} at the rate of the past week`
          }
        >
          {balanceUsd && <Money usd={balanceUsd} />}
        </Tile>
      </Tiles>
      {canTopUp === false ? (
        <Note tone="plain">{ASK_FOR_CREDIT}</Note>
      ) : (
        <Amounts isKnown={canTopUp === true} />
      )}
    </div>
  );
}

/** `isKnown`: whether users can add credit here is known. */
function Amounts({ isKnown }: { isKnown: boolean }) {
  const { run, error, sending } = useAction(TopUpDocument);
  const [amount, setAmount] = useState<number>(TOP_UP_AMOUNTS[1]);
  // Kept until the credit was added: a repeat after a lost connection must not add twice.
  const [idempotencyKey, setIdempotencyKey] = useState(newIdempotencyKey);
  const [added, setAdded] = useState<{ amount: number; balanceUsd: string }>();
  const choose = (next: number): void => {
    setAdded(undefined);
    setAmount(next);
    setIdempotencyKey(newIdempotencyKey());
  };
  const send = async (): Promise<void> => {
    // Hides the previous success: this top-up may fail.
    setAdded(undefined);
    const { data } = await run({ input: { amountUsd: amount, idempotencyKey } });
    if (!data) return;
    setAdded({ amount, balanceUsd: data.topUp.balanceUsd });
    setIdempotencyKey(newIdempotencyKey());
  };
  return (
    <div className={classes.adding}>
      <fieldset className={classes.amounts}>
        <legend>Add credit</legend>
        {TOP_UP_AMOUNTS.map((choice) => (
          <label key={choice} className={classes.amount}>
            <input
              type="radio"
              name="amount"
              value={choice}
              checked={choice === amount}
              onChange={() => choose(choice)}
            />
            ${choice}
          </label>
        ))}
      </fieldset>
      <div className={classes.send}>
        <Button loading={sending} disabled={!isKnown} onClick={() => void send()}>
          Add ${amount}
        </Button>
        <span className={classes.hint}>
          Mock: no card is charged, and the credit is available immediately.
        </span>
      </div>
      {error && <ErrorNote error={error} />}
      {added && (
        <Note tone="good">
          Added ${added.amount}. New balance: <Money usd={added.balanceUsd} />.
        </Note>
      )}
    </div>
  );
}

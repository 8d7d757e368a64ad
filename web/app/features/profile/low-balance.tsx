import { Button } from '@mantine/core';
import { SetLowBalanceDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { InlineEdit } from '../../ui/inline-edit';
import { Money } from '../../ui/money';
import { moneyFault } from '../../ui/money-fault';
import { trimmedDecimal } from '../../ui/money-text';

/** Below which balance a mail comes. */
export function LowBalance({ thresholdUsd }: { thresholdUsd: string | null }) {
  const { run } = useAction(SetLowBalanceDocument);
  const set = async (value: string | null) => (await run({ input: { thresholdUsd: value } })).error ?? null;
  return (
    <InlineEdit
      label="Mail below"
      draft="low balance"
      value={thresholdUsd === null ? '' : trimmedDecimal(thresholdUsd)}
      prefix="$"
      hint="Dollars, such as 5. Empty: no mail."
      check={(text) => (text === '' ? undefined : moneyFault(text))}
      save={(text) => set(text === '' ? null : text)}
      other={
        thresholdUsd !== null && (
          <Button size="xs" variant="default" onClick={() => void set(null)}>
            No mail
          </Button>
        )
      }
    >
      {thresholdUsd === null ? 'No mail comes.' : <Money usd={thresholdUsd} />}
      <p>One mail when the balance falls below, and no other until credit has lifted it again.</p>
    </InlineEdit>
  );
}

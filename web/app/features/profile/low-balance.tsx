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
      label="Email below"
      draft="low balance"
      value={thresholdUsd === null ? '' : trimmedDecimal(thresholdUsd)}
      prefix="$"
      hint="US dollars, such as 5. Leave empty for no email."
      check={(text) => (text === '' ? undefined : moneyFault(text))}
      save={(text) => set(text === '' ? null : text)}
      other={
        thresholdUsd !== null && (
          <Button size="xs" variant="default" onClick={() => void set(null)}>
            No email
          </Button>
        )
      }
    >
      {thresholdUsd === null ? 'Off.' : <Money usd={thresholdUsd} />}
      <p>
        Sends one email when the balance falls below this amount, and another only after you have added
        credit.
      </p>
    </InlineEdit>
  );
}

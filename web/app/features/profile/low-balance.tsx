import { SetLowBalanceDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { InlineEdit } from '../../ui/inline-edit';
import { Money } from '../../ui/money';
import { moneyFault } from '../../ui/money-fault';
import { trimmedDecimal } from '../../ui/money-text';
import { Note } from '../../ui/note';

interface LowBalanceProps {
  thresholdUsd: string | null;
  /** Whether this installation sends mails. */
  mailConfigured: boolean;
}

/** The balance below which a mail is sent. */
export function LowBalance({ thresholdUsd, mailConfigured }: LowBalanceProps) {
  const { run } = useAction(SetLowBalanceDocument);
  const value = thresholdUsd === null ? '' : trimmedDecimal(thresholdUsd);
  const set = async (text: string, base: string) =>
    (await run({ input: { thresholdUsd: text || null, expected: { thresholdUsd: base || null } } })).error ??
    null;
  return (
    <>
      {!mailConfigured && (
        <Note tone="warn">
          This installation doesn’t send email. The alert only appears in the dashboard.
        </Note>
      )}
      <InlineEdit
        label="Email below"
        draft="low balance"
        value={value}
        prefix="$"
        hint="US dollars, such as 5. Leave empty for no email."
        check={(text) => (text === '' ? undefined : moneyFault(text))}
        save={set}
        clear={{ act: 'Turn off', done: 'Turned off.', none: 'Off.' }}
      >
        {thresholdUsd === null ? 'Off.' : <Money usd={thresholdUsd} />}
        {mailConfigured && (
          <p>
            Sends one email when the balance falls below this amount, and another only after you have added
            credit.
          </p>
        )}
      </InlineEdit>
    </>
  );
}

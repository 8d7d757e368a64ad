import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { formatMoney, parseMoney } from '../../../../src/lib/money';
import { adjustCreditInput } from '../../../../src/services/admin/admin.inputs';
import { AdjustCreditDocument, type UserRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { Fact, Facts } from '../../ui/facts';
import { asSentence, schemaErrors } from '../../ui/form-errors';
import { Money } from '../../ui/money';
import { Note } from '../../ui/note';
import { Section } from '../../ui/section';
import { newIdempotencyKey } from '../billing/idempotency-key';
import classes from './admin.module.css';

const check = schemaErrors(adjustCreditInput);

/** The expected balance. The server computes it from the balance at that time. */
const balanceAfter = (user: UserRowFragment, amount: string): string =>
  formatMoney(parseMoney(user.balanceUsd) + parseMoney(amount));

/** Adjusts a balance, with a reason, after showing the resulting balance. */
export function AdjustCredit({ user }: { user: UserRowFragment }) {
  const { run, error, sending, forget } = useAction(AdjustCreditDocument);
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const [faults, setFaults] = useState<Record<string, string>>({});
  // Kept until the adjustment has succeeded or was changed: a repeat after a lost connection must not adjust twice.
  const [idempotencyKey, setIdempotencyKey] = useState(newIdempotencyKey);
  // The amount to confirm.
  const [asked, setAsked] = useState<string>();
  const [done, setDone] = useState<{ amountUsd: string; balanceUsd: string }>();
  const change = (set: (text: string) => void, text: string): void => {
    set(text);
    setIdempotencyKey(newIdempotencyKey());
  };
  const ask = (event: FormEvent): void => {
    event.preventDefault();
    const typed = amount.trim().replace(/^\+/, '');
    const wrong = check({ amount_usd: typed, reason });
    setFaults(wrong);
    if (Object.keys(wrong).length > 0) return;
    forget();
    setDone(undefined);
    setAsked(typed);
  };
  const send = async (): Promise<void> => {
    if (asked === undefined) return;
    const { data } = await run({ input: { id: user.id, amountUsd: asked, reason, idempotencyKey } });
    if (!data) return;
    setDone(data.adjustCredit.adjustment);
    setAsked(undefined);
    setAmount('');
    setReason('');
    setIdempotencyKey(newIdempotencyKey());
  };
  const refused = Object.values(error?.fields ?? {})
    .map(asSentence)
    .join(' ');
  return (
    <Section title="Credit">
      {done && (
        <Note tone="good">
          Adjusted by <Money usd={done.amountUsd} signed />. New balance: <Money usd={done.balanceUsd} />.
        </Note>
      )}
      <form noValidate className={classes.row} onSubmit={ask}>
        <TextInput
          label="Amount"
          description="Negative takes credit away"
          leftSection="$"
          inputMode="text"
          autoComplete="off"
          // The dialog can be closed while it is sent. Text that is typed then would be lost with the answer.
          readOnly={sending}
          value={amount}
          error={faults.amount_usd}
          onChange={({ currentTarget }) => change(setAmount, currentTarget.value)}
        />
        <TextInput
          label="Reason"
          description="The account’s owner reads it in the ledger"
          autoComplete="off"
          readOnly={sending}
          value={reason}
          error={faults.reason}
          onChange={({ currentTarget }) => change(setReason, currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={sending}>
          Adjust credit
        </Button>
      </form>
      {asked !== undefined && (
        <ConfirmDialog
          title={`Adjust the credit of ${user.email}?`}
          onClose={() => setAsked(undefined)}
          action="Adjust credit"
          onConfirm={() => void send()}
          sending={sending}
          error={error && refused !== '' ? { ...error, message: refused } : error}
        >
          <Facts>
            <Fact name="Balance now">
              <Money usd={user.balanceUsd} />
            </Fact>
            <Fact name="Adjustment">
              <Money usd={formatMoney(parseMoney(asked))} signed />
            </Fact>
            <Fact name="Balance after">
              <Money usd={balanceAfter(user, asked)} />
            </Fact>
            <Fact name="Reason">{reason.trim()}</Fact>
          </Facts>
          <p className={classes.hint}>
            It becomes a ledger entry, which can’t be changed. To correct it, adjust again.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

import { updateKeyInput } from '../../../../src/services/keys/keys.inputs';
import { type KeyRowFragment, RenameKeyDocument, SetKeyLimitsDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { schemaErrors } from '../../ui/form-errors';
import { InlineEdit } from '../../ui/inline-edit';
import { LimitBar } from '../../ui/limit-bar';
import { moneyFault } from '../../ui/money-fault';
import { trimmedDecimal } from '../../ui/money-text';
import { KeyGuard } from './key-guard';
import classes from './keys.module.css';
import { limitDraft } from './limit-draft';
import { resetTimes } from './reset-times';

const check = schemaErrors(updateKeyInput);

/** Name, caps and guard of a key, each edited in place. */
export function KeyCaps({ apiKey }: { apiKey: KeyRowFragment }) {
  const { id, name } = apiKey;
  const rename = useAction(RenameKeyDocument);
  const resets = resetTimes(Date.now());
  return (
    <>
      <InlineEdit
        label="Name"
        draft={`name of ${id}`}
        value={name}
        check={(text) => check({ name: text }).name}
        save={async (text, base) =>
          (await rename.run({ input: { id, name: text, expected: { name: base } } })).error ?? null
        }
      >
        {name}
      </InlineEdit>
      <Limit
        apiKey={apiKey}
        field="dailyLimitUsd"
        label="Daily cap"
        clear={{ act: 'Remove cap', done: 'Cap removed.', none: 'No limit' }}
        spent={apiKey.spendTodayUsd}
        explained="Hard cap: calls beyond it fail with 402 daily_cap_exceeded. The day’s spend resets at"
        resets={resets.day}
      />
      <Limit
        apiKey={apiKey}
        field="monthlyLimitUsd"
        label="Monthly limit"
        clear={{ act: 'Remove limit', done: 'Limit removed.', none: 'No limit' }}
        spent={apiKey.spendMonthUsd}
        explained="Not a hard cap: alerts and the guard are based on it. The month’s spend resets at"
        resets={resets.month}
      />
      <KeyGuard apiKey={apiKey} />
    </>
  );
}

interface LimitProps {
  apiKey: KeyRowFragment;
  field: 'dailyLimitUsd' | 'monthlyLimitUsd';
  label: string;
  clear: { act: string; done: string; none: string };
  spent: string;
  /** Explanation, which ends with the time of the next reset. */
  explained: string;
  resets: string;
}

function Limit({ apiKey, field, label, clear, spent, explained, resets }: LimitProps) {
  const { run } = useAction(SetKeyLimitsDocument);
  const limit = apiKey[field] ?? null;
  const value = limit === null ? '' : trimmedDecimal(limit);
  const set = async (text: string, base: string) =>
    (await run({ input: { id: apiKey.id, [field]: text || null, expected: { [field]: base || null } } }))
      .error ?? null;
  return (
    <InlineEdit
      label={label}
      draft={limitDraft(field, apiKey.id)}
      value={value}
      prefix="$"
      hint="US dollars, such as 5 or 0.25. Leave empty for no limit."
      check={(text) => (text === '' ? undefined : moneyFault(text))}
      save={set}
      clear={clear}
    >
      <LimitBar label={`Spend against the ${label.toLowerCase()}`} spentUsd={spent} limitUsd={limit} />
      <p className={`${classes.hint} ${classes.capped}`}>
        {explained} <span className={classes.reset}>{resets}</span>.
      </p>
    </InlineEdit>
  );
}

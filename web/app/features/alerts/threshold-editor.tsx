import { Button, TextInput } from '@mantine/core';
import { composes } from '../../ui/composing';
import classes from './alerts.module.css';
import { ThresholdBar } from './threshold-bar';
import { MAX_THRESHOLDS } from './thresholds.rules';
import type { TypedThreshold } from './use-typed-threshold';

interface ThresholdEditorProps {
  thresholds: readonly number[];
  onChange(thresholds: number[]): void;
  typed: TypedThreshold;
  /** The percentages are being sent and can't be changed. */
  sending: boolean;
  /** Null: no limit. */
  limitUsd: string | null;
  spentUsd: string;
}

/** One to five percentages; Enter adds one. */
export function ThresholdEditor(props: ThresholdEditorProps) {
  const { thresholds, onChange, typed, sending, limitUsd, spentUsd } = props;
  const full = thresholds.length >= MAX_THRESHOLDS;
  return (
    <fieldset className={classes.editor} disabled={sending}>
      <legend>Alert at</legend>
      <ThresholdBar
        thresholds={thresholds}
        limitUsd={limitUsd}
        spentUsd={spentUsd}
        onRemove={(percent) => onChange(thresholds.filter((one) => one !== percent))}
      />
      <div className={classes.adding}>
        <TextInput
          aria-label="Percentage to add"
          placeholder={full ? 'At most five' : 'Percentage, such as 90'}
          inputMode="numeric"
          autoComplete="off"
          disabled={full}
          value={typed.text}
          error={typed.fault}
          onChange={({ currentTarget }) => typed.change(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || composes(event.nativeEvent)) return;
            event.preventDefault();
            typed.add();
          }}
        />
        <Button variant="default" disabled={full} onClick={() => typed.add()}>
          Add
        </Button>
      </div>
    </fieldset>
  );
}

import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import classes from './alerts.module.css';
import { ThresholdBar } from './threshold-bar';
import { MAX_THRESHOLDS, withThreshold } from './thresholds.rules';

interface ThresholdEditorProps {
  thresholds: readonly number[];
  onChange(thresholds: number[]): void;
  limitUsd: string;
  spentUsd: string;
}

/** One to five percentages; Enter adds one. */
export function ThresholdEditor({ thresholds, onChange, limitUsd, spentUsd }: ThresholdEditorProps) {
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string>();
  const add = (): void => {
    const added = withThreshold(thresholds, typed);
    setFault('fault' in added ? added.fault : undefined);
    if ('fault' in added) return;
    onChange(added.list);
    setTyped('');
  };
  const full = thresholds.length >= MAX_THRESHOLDS;
  return (
    <fieldset className={classes.editor}>
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
          value={typed}
          error={fault}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            add();
          }}
        />
        <Button variant="default" disabled={full} onClick={add}>
          Add
        </Button>
      </div>
    </fieldset>
  );
}

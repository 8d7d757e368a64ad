import { Textarea } from '@mantine/core';
import type { VersionPartsFragment } from '../../../generated/graphql';
import classes from './prompts.module.css';

interface PromptValueProps {
  name: string;
  /** The declaration; undefined for an undeclared variable. */
  variable: VersionPartsFragment['variables'][number] | undefined;
  /** Undefined: no value is supplied. An empty value is supplied and takes precedence over the default. */
  value: string | undefined;
  isMissing: boolean;
  onChange(value: string | undefined): void;
}

/** The value of one variable for a render. An empty field supplies no value unless the user chooses an empty one. */
export function PromptValue({ name, variable, value, isMissing, onChange }: PromptValueProps) {
  const fallback = variable?.default ?? undefined;
  const isEmpty = value === '';
  return (
    <div className={classes.notes!}>
      <Textarea
        label={name}
        description={variable?.description ?? undefined}
        required={fallback === undefined}
        placeholder={isEmpty || fallback === '' ? 'Empty text' : fallback}
        autosize
        minRows={1}
        maxRows={12}
        value={value ?? ''}
        error={isMissing && 'A value is required'}
        onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
      />
      {fallback !== '' && (
        <label className={classes.check}>
          <input
            type="checkbox"
            checked={isEmpty}
            disabled={value !== undefined && !isEmpty}
            aria-label={`Empty text for ${name}`}
            onChange={({ currentTarget }) => onChange(currentTarget.checked ? '' : undefined)}
          />
          Empty text
        </label>
      )}
    </div>
  );
}

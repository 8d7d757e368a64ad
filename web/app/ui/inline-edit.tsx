import { Button, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import type { ShownError } from '../graphql/errors';
import { useDraft } from './draft';
import { ErrorNote } from './error-note';
import classes from './inline-edit.module.css';
import { Unseen } from './unseen';

interface InlineEditProps {
  label: string;
  /** Names the draft, which outlives a log-in. */
  draft: string;
  /** How the value is shown. */
  children: ReactNode;
  /** How it is typed. */
  value: string;
  hint?: string;
  prefix?: string;
  /** @returns what is wrong, to be said under the field */
  check(text: string): string | undefined;
  /** @returns the refusal, or null */
  save(text: string): Promise<ShownError | null>;
  /** Beside "Edit": another way to set it. */
  other?: ReactNode;
}

/** A value that is changed where it stands. Enter saves, Escape leaves it as it was. */
export function InlineEdit(props: InlineEditProps) {
  const { label, draft, children, value, hint, prefix, check, save, other } = props;
  const [typed, change, forget] = useDraft(draft);
  const [fault, setFault] = useState<string>();
  const [refusal, setRefusal] = useState<ShownError | null>(null);
  const [saving, setSaving] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const stop = (): void => {
    forget();
    setFault(undefined);
    setRefusal(null);
    // The button is there again after this rendering.
    requestAnimationFrame(() => opener.current?.focus());
  };
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const text = (typed ?? value).trim();
    const wrong = check(text);
    setFault(wrong);
    if (wrong) return;
    setSaving(true);
    const refused = await save(text);
    setSaving(false);
    setRefusal(refused);
    if (!refused) stop();
  };
  return (
    <div className={classes.field}>
      <span className={classes.label}>{label}</span>
      {typed === undefined ? (
        <>
          <div>{children}</div>
          <div className={classes.buttons}>
            <Button ref={opener} size="xs" variant="default" onClick={() => change(value)}>
              Edit<Unseen> {label.toLowerCase()}</Unseen>
            </Button>
            {other}
          </div>
        </>
      ) : (
        <form noValidate onSubmit={(event) => void send(event)}>
          {refusal && <ErrorNote error={refusal} />}
          <TextInput
            aria-label={label}
            autoFocus
            autoComplete="off"
            {...(hint && { description: hint })}
            {...(prefix && { leftSection: prefix })}
            value={typed}
            error={fault}
            onChange={({ currentTarget }) => change(currentTarget.value)}
            onKeyDown={({ key }) => key === 'Escape' && stop()}
          />
          <div className={classes.buttons}>
            <Button type="submit" size="xs" loading={saving}>
              Save
            </Button>
            <Button size="xs" variant="default" onClick={stop}>
              Cancel
            </Button>
          </div>
        </form>
      )}
    </div>
  );
}

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { ShownError } from '../graphql/errors';
import { useDraft } from './draft';
import { useEditBase } from './edit-base';
import { Elsewhere } from './elsewhere';
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
  /**
   * @param base the value that the text is to replace: where another is there by now, nothing may change.
   * @returns the refusal, or null
   */
  save(text: string, base: string): Promise<ShownError | null>;
  /** Words of a button beside "Edit" that empties it. */
  clear?: string;
}

/** A value that is changed where it stands. Enter saves, Escape leaves it as it was. */
export function InlineEdit(props: InlineEditProps) {
  const { label, draft, children, value, hint, prefix, check, save, clear } = props;
  const [typed, change, forget] = useDraft(draft);
  const [saved, setSaved] = useState<{ text: string; was: string }>();
  // What was saved is there, though the page may not have read it yet.
  const unread = saved?.was === value ? saved : undefined;
  const current = unread?.text ?? value;
  const edit = useEditBase(draft, current, { isEditing: typed !== undefined });
  const [fault, setFault] = useState<string>();
  const [refusal, setRefusal] = useState<ShownError | null>(null);
  const [saving, setSaving] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const isOld = edit.isOld && !saving;
  const isEditing = typed !== undefined;
  const wasEditing = useRef(isEditing);
  useEffect(() => {
    // The button is there again.
    if (wasEditing.current && !isEditing) opener.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  const stop = (): void => {
    forget();
    edit.forget();
    setFault(undefined);
    setRefusal(null);
  };
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isOld) return;
    const text = (typed ?? current).trim();
    const wrong = check(text);
    setFault(wrong);
    if (wrong) return;
    setSaving(true);
    const refused = await save(text, edit.base);
    setSaving(false);
    setRefusal(refused);
    if (refused) return;
    setSaved({ text, was: value });
    stop();
  };
  const empty = async (): Promise<void> => {
    setRefusal(null);
    const refused = await save('', current);
    setRefusal(refused);
    if (!refused) setSaved({ text: '', was: value });
  };
  const savedAs = (text: string): string => (text === '' ? (clear ?? 'None') : `${prefix ?? ''}${text}`);
  return (
    <div className={classes.field}>
      <span className={classes.label}>{label}</span>
      {typed === undefined ? (
        <>
          <div>
            {unread ? savedAs(unread.text) : children}
            {refusal && <ErrorNote error={refusal} />}
          </div>
          <div className={classes.buttons}>
            <Button
              ref={opener}
              size="xs"
              variant="default"
              onClick={() => {
                setRefusal(null);
                edit.begin();
                change(current);
              }}
            >
              Edit<Unseen> {label.toLowerCase()}</Unseen>
            </Button>
            {clear !== undefined && current !== '' && (
              <Button size="xs" variant="default" onClick={() => void empty()}>
                {clear}
              </Button>
            )}
          </div>
        </>
      ) : (
        <form noValidate onSubmit={(event) => void send(event)}>
          {refusal && !isOld && <ErrorNote error={refusal} />}
          {isOld && (
            <Elsewhere
              what={label}
              now={current === '' ? 'It is empty now.' : `Now: ${prefix ?? ''}${current}`}
              onKeep={() => {
                setRefusal(null);
                edit.keep();
              }}
              onDiscard={stop}
            />
          )}
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
            <Button type="submit" size="xs" loading={saving} disabled={isOld}>
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

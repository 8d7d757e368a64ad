import { Button, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { ShownError } from '../graphql/errors';
import { composes } from './composing';
import { useDraft } from './draft';
import { useEditBase } from './edit-base';
import { Elsewhere } from './elsewhere';
import { ErrorNote } from './error-note';
import classes from './inline-edit.module.css';
import { Removed } from './removed';
import { useUnread } from './unread';
import { Unseen } from './unseen';

interface InlineEditProps {
  label: string;
  /** Name of the draft, which survives a log-in. */
  draft: string;
  /** The displayed value. */
  children: ReactNode;
  /** The value as it is typed. */
  value: string;
  hint?: string;
  prefix?: string;
  /** @returns the error to show under the field */
  check(text: string): string | undefined;
  /**
   * @param base the value to replace: if it has changed since, nothing may be saved.
   * @returns the refusal, or null
   */
  save(text: string, base: string): Promise<ShownError | null>;
  /** A button beside "Edit" that empties the value, which can be undone. */
  clear?: {
    act: string;
    /** The message afterwards. */
    done: string;
    /** Shown instead of an empty value. */
    none: string;
  };
}

/** A value that is edited in place. Enter saves, Escape cancels. */
export function InlineEdit(props: InlineEditProps) {
  const { label, draft, children, value, hint, prefix, check, save, clear } = props;
  const [typed, change, forget] = useDraft(draft);
  const edit = useEditBase(draft, value, { isEditing: typed !== undefined });
  const [fault, setFault] = useState<string>();
  const [refusal, setRefusal] = useState<ShownError | null>(null);
  const [saving, setSaving] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  // Shows the saved value, though the page may not have loaded it yet.
  const [unread, noteSaved] = useUnread(value);
  /** The value before the button emptied it. */
  const [removed, setRemoved] = useState<string>();
  const isOld = edit.isOld && !saving;
  const isLeaving = useRef(false);
  useEffect(() => {
    // The button is back, and enabled once the page has loaded the saved value. If the user has gone on, the focus stays.
    if (!isLeaving.current || !opener.current || opener.current.disabled) return;
    isLeaving.current = false;
    if (document.activeElement?.contains(opener.current)) opener.current.focus();
  });
  const stop = (): void => {
    forget();
    edit.forget();
    setFault(undefined);
    setRefusal(null);
    isLeaving.current = true;
  };
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isOld) return;
    const text = (typed ?? value).trim();
    const wrong = check(text);
    setFault(wrong);
    if (wrong) return;
    setSaving(true);
    const refused = await save(text, edit.base);
    setSaving(false);
    setRefusal(refused);
    if (refused) return;
    noteSaved(text);
    setRemoved(undefined);
    stop();
  };
  /** Saves at once, without the field. */
  const put = async (text: string): Promise<void> => {
    setRefusal(null);
    setSaving(true);
    const refused = await save(text, value);
    setSaving(false);
    setRefusal(refused);
    if (refused) return;
    noteSaved(text);
    setRemoved(text === '' ? value : undefined);
  };
  const savedAs = (text: string): string =>
    text === '' ? (clear?.none ?? 'None') : `${prefix ?? ''}${text}`;
  return (
    <div className={classes.field}>
      <span className={classes.label}>{label}</span>
      {typed === undefined ? (
        <>
          <div className={classes.value}>
            {unread === undefined ? children : savedAs(unread)}
            {clear && removed !== undefined && (unread ?? value) === '' && (
              <Removed
                done={clear.done}
                what={label.toLowerCase()}
                disabled={saving || unread !== undefined}
                onUndo={() => void put(removed)}
              />
            )}
            {refusal && <ErrorNote error={refusal} />}
          </div>
          <div className={classes.buttons}>
            <Button
              ref={opener}
              size="xs"
              variant="default"
              disabled={saving || unread !== undefined}
              onClick={() => {
                setRefusal(null);
                edit.begin();
                change(value);
              }}
            >
              Edit<Unseen> {label.toLowerCase()}</Unseen>
            </Button>
            {clear !== undefined && value !== '' && (
              <Button
                size="xs"
                variant="default"
                loading={saving}
                disabled={unread !== undefined}
                onClick={() => void put('')}
              >
                {clear.act}
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
              now={value === '' ? 'It is empty now.' : `Now: ${prefix ?? ''}${value}`}
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
            // Text that is typed now would be lost with the answer.
            readOnly={saving}
            error={fault}
            onChange={({ currentTarget }) => {
              setFault(undefined);
              change(currentTarget.value);
            }}
            onKeyDown={({ key, nativeEvent }) => key === 'Escape' && !composes(nativeEvent) && stop()}
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

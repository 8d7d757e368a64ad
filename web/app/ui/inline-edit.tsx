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
  /** A button beside "Edit" that empties it, which can be undone. */
  clear?: {
    act: string;
    /** What has been done. */
    done: string;
    /** Instead of an empty value. */
    none: string;
  };
}

/** A value that is changed where it stands. Enter saves, Escape leaves it as it was. */
export function InlineEdit(props: InlineEditProps) {
  const { label, draft, children, value, hint, prefix, check, save, clear } = props;
  const [typed, change, forget] = useDraft(draft);
  const edit = useEditBase(draft, value, { isEditing: typed !== undefined });
  const [fault, setFault] = useState<string>();
  const [refusal, setRefusal] = useState<ShownError | null>(null);
  const [saving, setSaving] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  // What was saved is there, though the page may not have read it yet.
  const [unread, noteSaved] = useUnread(value);
  /** The value before it was emptied at a click. */
  const [removed, setRemoved] = useState<string>();
  const isOld = edit.isOld && !saving;
  const isLeaving = useRef(false);
  useEffect(() => {
    // The button is there again, and enabled once the page has read what was saved. Whoever has gone on keeps the focus.
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
  /** At once, without the field. */
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
            // What was typed now would go with the answer.
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

import { Button } from '@mantine/core';
import { useState } from 'react';
import { type KeyRowFragment, SetKeyGuardDocument, UndoKeyGuardDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { useEditBase } from '../../ui/edit-base';
import { Elsewhere } from '../../ui/elsewhere';
import { ErrorNote } from '../../ui/error-note';
import { useFormDraft } from '../../ui/form-draft';
import edit from '../../ui/inline-edit.module.css';
import { Moment } from '../../ui/moment';
import { Note } from '../../ui/note';
import { Removed } from '../../ui/removed';
import { useUnread } from '../../ui/unread';
import { draftOf, GuardForm, guardOf, storedGuard } from './guard-form';
import { actingText, guardText, stateText } from './guard-words';
import classes from './keys.module.css';

/** The guard of a key, which acts at a percentage of its monthly limit. Edited in place. */
export function KeyGuard({ apiKey }: { apiKey: KeyRowFragment }) {
  const { id, guard, guardStatus } = apiKey;
  const [draft, change, forget] = useFormDraft(`guard of ${id}`, storedGuard);
  const known = JSON.stringify(guardOf(guard));
  const basis = useEditBase(`guard of ${id}`, known, { isEditing: draft !== undefined });
  const [unread, noteSaved] = useUnread(known);
  const action = useAction(SetKeyGuardDocument);
  const [removed, setRemoved] = useState<{ guard: typeof guard; wasUndone: boolean }>();
  const isOld = basis.isOld && !action.sending;
  const set = async (next: ReturnType<typeof guardOf>, base: string) => {
    const outcome = await action.run({ input: { id, guard: next, expected: { guard: JSON.parse(base) } } });
    if (outcome.data) noteSaved(JSON.stringify(next));
    return outcome;
  };
  const remove = async (): Promise<void> => {
    const { data } = await set(null, basis.base);
    if (data) setRemoved({ guard, wasUndone: guardStatus === 'UNDONE' });
  };
  const putBack = async (was: NonNullable<typeof removed>): Promise<void> => {
    const { data } = await set(guardOf(was.guard), basis.base);
    if (data) setRemoved(undefined);
  };
  const stop = (): void => {
    forget();
    basis.forget();
    action.forget();
  };
  if (draft) {
    return (
      <div className={edit.field}>
        <span className={edit.label}>Guard</span>
        {isOld && (
          <Elsewhere
            what="The guard"
            now={guard ? `Now: ${guardText(guard)}` : 'It was removed.'}
            onKeep={() => {
              action.forget();
              basis.keep();
            }}
            onDiscard={stop}
          />
        )}
        <GuardForm
          draft={draft}
          isOld={isOld}
          onChange={change}
          onCancel={stop}
          sending={action.sending}
          error={isOld ? null : action.error}
          save={async (next) => {
            const { data } = await set(next, basis.base);
            if (data) stop();
          }}
        />
      </div>
    );
  }
  return (
    <div className={edit.field}>
      <span className={edit.label}>Guard</span>
      <div>
        {guard ? guardText(guard) : 'No guard'}
        <p className={`${classes.hint} ${classes.capped}`}>{stateText(apiKey)}</p>
        {removed && !guard && (
          <Removed
            done={
              removed.wasUndone
                ? 'Guard removed. If you set it again, it acts again this month.'
                : 'Guard removed.'
            }
            what="guard"
            disabled={action.sending || unread !== undefined}
            // A guard that was undone would act again.
            onUndo={removed.wasUndone ? undefined : () => void putBack(removed)}
          />
        )}
        {action.error && <ErrorNote error={action.error} />}
      </div>
      <div className={edit.buttons}>
        <Button
          size="xs"
          variant="default"
          disabled={action.sending || unread !== undefined}
          onClick={() => {
            basis.begin();
            change(draftOf(guard));
          }}
        >
          {guard ? 'Edit guard' : 'Set guard'}
        </Button>
        {guard && (
          <Button
            size="xs"
            variant="default"
            loading={action.sending}
            disabled={unread !== undefined}
            onClick={() => void remove()}
          >
            Remove guard
          </Button>
        )}
      </div>
    </div>
  );
}

/** Shows at the top of a key's page that its guard has acted, with an undo button. */
export function GuardNote({ apiKey: { id, guard, guardStatus, guardActedAt } }: { apiKey: KeyRowFragment }) {
  const { run, sending, error } = useAction(UndoKeyGuardDocument);
  if (!guard || guardStatus !== 'ACTING') return null;
  const undo = () => run({ input: { id, expected: { guard: guardOf(guard) } } });
  return (
    <div className={classes.guard}>
      <Note
        tone="warn"
        action={
          <Button size="xs" variant="default" loading={sending} onClick={() => void undo()}>
            Undo
          </Button>
        }
      >
        {actingText(guard)} It acted {guardActedAt && <Moment at={guardActedAt} ago />} and stays in effect
        until the month ends (UTC) or you undo it.
      </Note>
      {error && <ErrorNote error={error} />}
    </div>
  );
}

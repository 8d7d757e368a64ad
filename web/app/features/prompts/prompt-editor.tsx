import { Button } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { z } from 'zod';
import { addPromptVersionInput } from '../../../../src/services/prompts/prompts.inputs';
import { AddPromptVersionDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { ErrorNote } from '../../ui/error-note';
import { useFormDraft } from '../../ui/form-draft';
import { refusedFields, schemaErrors } from '../../ui/form-errors';
import { Note } from '../../ui/note';
import type { LoadedPrompt } from './loaded-prompt';
import { currentRevision, noteChange } from './own-changes';
import classes from './prompts.module.css';
import { useActivation } from './use-activation';
import {
  checkedVersion,
  fieldsOf,
  type VersionFields,
  versionDraft,
  versionFields,
  versionInput,
} from './version-fields';
import { VersionForm } from './version-form';

/** A version that is being typed, and the number of the version it is based on. */
const editing = z.object({ base: z.number(), version: versionFields });

const check = schemaErrors(addPromptVersionInput);

/** Edits the next version of a prompt. Existing versions never change. */
export function PromptEditor({ prompt }: { prompt: LoadedPrompt }) {
  const newest = prompt.versions.nodes[0]!;
  const { run, error, sending } = useAction(AddPromptVersionDocument);
  const [draft, change, forget] = useFormDraft(
    versionDraft(prompt.id),
    (stored) => editing.safeParse(stored).data,
  );
  const latest = useRef(draft);
  latest.current = draft;
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [saved, setSaved] = useState<SavedVersion>();
  // The saved version is the newest, though the page may not have loaded it yet.
  const unread = saved && saved.version > newest.version ? saved : undefined;
  const fields = draft?.version ?? unread?.fields ?? fieldsOf(newest);
  const base = draft?.base ?? unread?.version ?? newest.version;
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wrong = check(checkedVersion(fields));
    setFaults(wrong);
    if (Object.keys(wrong).length > 0) return;
    const sent = JSON.stringify(draft);
    const revision = currentRevision(prompt);
    const { data, error: refused } = await run({ input: { promptId: prompt.id, ...versionInput(fields) } });
    if (refused) setFaults(refusedFields(refused.fields));
    if (!data) return;
    const { version: made } = data.addPromptVersion;
    noteChange(data.addPromptVersion.prompt, revision);
    const now = latest.current;
    // Text that was typed meanwhile is based on the saved version.
    if (now && JSON.stringify(now) !== sent) change({ base: made.version, version: now.version });
    else forget();
    setSaved({ ...made, base, fields: { ...fields, notes: '' } });
  };
  return (
    <form noValidate className={classes.form} onSubmit={(event) => void send(event)}>
      {error && Object.keys(error.fields).length === 0 && <ErrorNote error={error} />}
      <Elsewhere
        prompt={prompt}
        newest={newest.version}
        base={draft?.base}
        own={saved?.version}
        onDiscard={forget}
      />
      <p className={classes.hint}>
        {draft ? `Unsaved changes of version ${base}.` : `Version ${base}, the newest.`}{' '}
        {prompt.activeVersion.version === base
          ? 'It is active.'
          : `Version ${prompt.activeVersion.version} is active.`}
      </p>
      <VersionForm
        fields={fields}
        faults={faults}
        onChange={(version) => {
          setFaults({});
          change({ base, version });
        }}
      />
      <div className={classes.actions}>
        <Button type="submit" loading={sending} disabled={draft === undefined}>
          Save as version {Math.max(prompt.versionCount, unread?.version ?? 0) + 1}
        </Button>
        {draft && (
          <Button variant="default" onClick={forget}>
            Discard changes
          </Button>
        )}
        <span className={classes.hint}>A change is saved as a new version, which isn’t active yet.</span>
      </div>
      {saved && !draft && <Saved prompt={prompt} saved={saved} />}
    </form>
  );
}

/** A version that was saved on this page, the version it is based on, and its content. */
interface SavedVersion {
  id: string;
  version: number;
  base: number;
  fields: VersionFields;
}

interface SavedProps {
  prompt: LoadedPrompt;
  saved: SavedVersion;
}

/** Shows that a version was saved, and offers to activate it. */
function Saved({ prompt, saved: { id, version, base } }: SavedProps) {
  const { activate, error, sending } = useActivation(prompt);
  const isActive = prompt.activeVersionId === id;
  const between = version - base - 1;
  return (
    <>
      {error && <ErrorNote error={error} />}
      <Note
        tone="good"
        followsButton
        action={
          !isActive && (
            <Button size="xs" variant="default" loading={sending} onClick={() => void activate(id)}>
              Activate version {version}
            </Button>
          )
        }
      >
        {isActive
          ? `Version ${version} is active: renders use it.`
          : `Version ${version} is saved. Version ${prompt.activeVersion.version} stays active.`}
        {between > 0 &&
          ' Someone has saved another version in the meantime. Compare them before you activate yours.'}
      </Note>
    </>
  );
}

interface ElsewhereProps {
  prompt: LoadedPrompt;
  newest: number;
  /** The version that unsaved changes are based on; absent without changes. */
  base: number | undefined;
  /** The version that was saved on this page. */
  own: number | undefined;
  onDiscard(): void;
}

/** Shows that another tab or person has saved a version, and lets the user choose what to do with unsaved changes. */
function Elsewhere({ prompt, newest, base, own, onDiscard }: ElsewhereProps) {
  const first = useRef(newest);
  if (base !== undefined && newest > base) {
    return (
      <Note
        tone="warn"
        action={
          <span className={classes.actions}>
            <ButtonLink
              size="xs"
              variant="default"
              to={paths.prompt}
              params={{ promptId: prompt.id }}
              search={{ tab: 'diff', from: base, to: newest }}
            >
              Compare {base} and {newest}
            </ButtonLink>
            <Button size="xs" variant="default" onClick={onDiscard}>
              Discard my changes
            </Button>
          </span>
        }
      >
        Version {newest} was saved elsewhere. Your changes began with version {base} and don’t contain it.
      </Note>
    );
  }
  if (base === undefined && newest > first.current && newest !== own) {
    return <Note tone="plain">Version {newest} was saved elsewhere. This is its text.</Note>;
  }
  return null;
}

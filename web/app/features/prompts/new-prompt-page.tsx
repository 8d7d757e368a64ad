import { Button, TextInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { z } from 'zod';
import { createPromptInput } from '../../../../src/services/prompts/prompts.inputs';
import { CreatePromptDocument, PlaygroundSessionDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { draftOf, leaveDraft } from '../../ui/draft';
import { ErrorNote } from '../../ui/error-note';
import { useFormDraft } from '../../ui/form-draft';
import { asSentence, refusedFields, schemaErrors } from '../../ui/form-errors';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { useIsHere } from '../../ui/use-is-here';
import { Waiting } from '../../ui/waiting';
import { promptOfSession } from './prompt-of-session';
import classes from './prompts.module.css';
import { checkedVersion, NO_VERSION, versionDraft, versionFields, versionInput } from './version-fields';
import { VersionForm } from './version-form';

const promptFields = z.object({ name: z.string(), description: z.string(), version: versionFields });
type PromptFields = z.infer<typeof promptFields>;

const NO_PROMPT: PromptFields = { name: '', description: '', version: NO_VERSION };

const FIRST_VERSION = 1;

const check = schemaErrors(createPromptInput);

/** `/dashboard/prompts/new` */
export function NewPromptPage(): ReactNode {
  const { session, model } = useSearch({ from: '/signed-in/dashboard/prompts/new' });
  return (
    <>
      <Link to={paths.prompts} className={classes.back}>
        ← Prompts
      </Link>
      <PageHead
        title="Create a prompt"
        lead="Version 1 is active immediately. Later versions become active only when you activate them."
      />
      {session === undefined ? (
        <PromptForm draft="new prompt" first={NO_PROMPT} />
      ) : (
        <PromptOfSession sessionId={session} model={model} />
      )}
    </>
  );
}

/** A new prompt with the text, model and parameters of a session of the model playground. */
function PromptOfSession({ sessionId, model }: { sessionId: string; model: string | undefined }) {
  const { data, error, refresh } = usePageQuery({
    query: PlaygroundSessionDocument,
    variables: { id: sessionId },
  });
  const session = data?.viewer?.playgroundSession;
  if (error && !session) return <LoadError error={error} onRetry={refresh} />;
  if (!session) return <Waiting height={240} />;
  const first = { ...NO_PROMPT, version: promptOfSession(session, model) };
  return (
    <>
      {session.systemPrompt && (
        <p className={classes.hint}>
          The session’s system prompt is at the start of the text, because a saved prompt is a single text.
        </p>
      )}
      <PromptForm draft={`new prompt of ${sessionId}`} first={first} />
    </>
  );
}

function PromptForm({ draft, first }: { draft: string; first: PromptFields }) {
  const { run, error, sending } = useAction(CreatePromptDocument);
  const navigate = useNavigate();
  const isHere = useIsHere();
  const [typed, change, forget] = useFormDraft(draft, (stored) => promptFields.safeParse(stored).data);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const fields = typed ?? first;
  const { name, description, version } = fields;
  const latest = useRef(version);
  latest.current = version;
  const described = description.trim() || null;
  const set = (part: Partial<PromptFields>): void => {
    setFaults({});
    change({ ...fields, ...part });
  };
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wrong = check({ name, description: described, ...checkedVersion(version) });
    setFaults(wrong);
    if (Object.keys(wrong).length > 0) return;
    const sent = draftOf(draft);
    const { data, error: refused } = await run({
      input: { name, description: described, ...versionInput(version) },
    });
    if (refused) setFaults(refusedFields(refused.fields));
    if (!data) return;
    const promptId = data.createPrompt.prompt.id;
    // Text that was typed meanwhile becomes a draft of the new prompt.
    if (JSON.stringify(latest.current) !== JSON.stringify(version))
      leaveDraft(versionDraft(promptId), JSON.stringify({ base: FIRST_VERSION, version: latest.current }));
    // If the user has left and come back, the form may have another draft.
    if (isHere() || draftOf(draft) === sent) forget();
    if (isHere()) await navigate({ to: paths.prompt, params: { promptId }, search: {} });
  };
  return (
    <form noValidate className={classes.form} onSubmit={(event) => void send(event)}>
      {error && Object.keys(error.fields).length === 0 && <ErrorNote error={error} />}
      <TextInput
        className={classes.short!}
        label="Name"
        autoComplete="off"
        value={name}
        // The name of a prompt that is being created is fixed.
        readOnly={sending}
        error={faults.name && asSentence(faults.name)}
        onChange={({ currentTarget }) => set({ name: currentTarget.value })}
      />
      <TextInput
        className={classes.notes!}
        label="Description"
        autoComplete="off"
        value={description}
        readOnly={sending}
        error={faults.description && asSentence(faults.description)}
        onChange={({ currentTarget }) => set({ description: currentTarget.value })}
      />
      <VersionForm fields={version} faults={faults} onChange={(next) => set({ version: next })} />
      <div className={classes.actions}>
        <Button type="submit" loading={sending}>
          Create prompt
        </Button>
        {typed && (
          <Button variant="default" onClick={forget}>
            Discard
          </Button>
        )}
      </div>
    </form>
  );
}

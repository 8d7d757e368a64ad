import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient } from 'urql';
import { z } from 'zod';
import { characters } from '../../../../src/lib/characters';
import { placeholderNames } from '../../../../src/services/prompts/placeholders.rules';
import { RenderPromptDocument, type RenderPromptQuery } from '../../../generated/graphql';
import { type ShownError, shownError } from '../../graphql/errors';
import { paths } from '../../paths';
import { CopyButton } from '../../ui/copy-button';
import { leaveDraft } from '../../ui/draft';
import { ErrorNote } from '../../ui/error-note';
import { useFormDraft } from '../../ui/form-draft';
import { counted } from '../../ui/format';
import { Note } from '../../ui/note';
import { Section } from '../../ui/section';
import { newDraftId, playgroundDraft } from '../playground/draft-names';
import type { LoadedPrompt } from './loaded-prompt';
import { PromptSnippet } from './prompt-snippet';
import { PromptValue } from './prompt-value';
import classes from './prompts.module.css';

type Answer = NonNullable<NonNullable<RenderPromptQuery['viewer']>['prompt']>;

/** A rendered text with the parameters of its version. */
interface Rendered {
  text: string;
  /** The values it was rendered with, to detect later changes. */
  values: string;
  version: number;
  config: Answer['activeVersion']['config'];
}

/** Pairs, since a variable may have any name, such as `__proto__`. */
const values = z.array(z.tuple([z.string(), z.string()]));

/** Renders the active version with typed values, as a program would get it. */
export function PromptRender({ prompt }: { prompt: LoadedPrompt }) {
  const { activeVersion } = prompt;
  const client = useClient();
  const [pairs = [], change] = useFormDraft(
    `values of prompt ${prompt.id}`,
    (stored) => values.safeParse(stored).data,
  );
  const typed = new Map(pairs);
  const [rendered, setRendered] = useState<Rendered>();
  const [error, setError] = useState<ShownError | null>(null);
  const [sending, setSending] = useState(false);
  const names = placeholderNames(activeVersion.content);
  const declared = new Map(activeVersion.variables.map((variable) => [variable.name, variable]));
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) typed.delete(name);
    else typed.set(name, value);
    change([...typed]);
  };
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSending(true);
    setError(null);
    const variables = names.flatMap((name) => {
      const value = typed.get(name);
      return value === undefined ? [] : [{ name, value }];
    });
    const result = await client
      .query(RenderPromptDocument, { id: prompt.id, variables }, { requestPolicy: 'network-only' })
      .toPromise();
    setSending(false);
    setError(result.error ? shownError(result.error) : null);
    setRendered(result.error ? undefined : renderedOf(result.data?.viewer?.prompt, JSON.stringify(pairs)));
  };
  return (
    <>
      <form noValidate className={classes.form} onSubmit={(event) => void send(event)}>
        <p className={classes.hint}>
          Renders version {activeVersion.version}, the active one.
          {names.length === 0 && ' Its text has no variables.'}
        </p>
        {error && <ErrorNote error={error} />}
        {names.map((name) => (
          <PromptValue
            key={name}
            name={name}
            variable={declared.get(name)}
            value={typed.get(name)}
            isMissing={error?.fields[`variables.${name}`] !== undefined}
            onChange={(value) => set(name, value)}
          />
        ))}
        <div className={classes.actions}>
          <Button type="submit" loading={sending}>
            Render
          </Button>
          {names.length > 0 && (
            <Button variant="default" onClick={() => change([])}>
              Clear values
            </Button>
          )}
        </div>
      </form>
      {rendered && <Result rendered={rendered} isOld={rendered.values !== JSON.stringify(pairs)} />}
      <Section title="In a program">
        <PromptSnippet slug={prompt.slug} names={names} model={activeVersion.config?.modelPublicName} />
      </Section>
    </>
  );
}

function renderedOf(answer: Answer | null | undefined, values: string): Rendered | undefined {
  if (!answer?.rendered) return undefined;
  const { rendered, activeVersion } = answer;
  return {
    text: rendered.renderedContent,
    values,
    version: rendered.versionUsed,
    // Another version may have become active in between.
    config: activeVersion.id === rendered.promptVersionId ? activeVersion.config : null,
  };
}

interface ResultProps {
  rendered: Rendered;
  /** The values were changed since. */
  isOld: boolean;
}

function Result({ rendered: { text, version, config }, isOld }: ResultProps) {
  const navigate = useNavigate();
  const open = (): void => {
    const draft = newDraftId();
    leaveDraft(
      playgroundDraft({ draft }),
      JSON.stringify({
        prompt: text,
        systemPrompt: '',
        models: config?.modelPublicName ? [config.modelPublicName] : null,
        temperature: config?.temperature == null ? '' : String(config.temperature),
        maxTokens: config?.maxTokens == null ? '' : String(config.maxTokens),
        topP: config?.topP == null ? '' : String(config.topP),
      }),
    );
    void navigate({ to: paths.playground, search: { draft } });
  };
  return (
    <Section
      title="Rendered"
      tools={
        <div className={classes.actions}>
          <CopyButton text={text} what="text" />
          <Button size="xs" variant="default" onClick={open}>
            Open in playground
          </Button>
        </div>
      }
    >
      {isOld && <Note tone="warn">The values have changed since. Render again to update the text.</Note>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and the keyboard must be able to */}
      <section tabIndex={0} aria-label="Rendered text" className={classes.content}>
        {text}
      </section>
      <p className={classes.hint}>
        Version {version}, {counted(characters(text), 'character')}.
      </p>
    </Section>
  );
}

import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { updatePromptInput } from '../../../../src/services/prompts/prompts.inputs';
import { PromptDocument, UpdatePromptDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { CopyButton } from '../../ui/copy-button';
import { schemaErrors } from '../../ui/form-errors';
import { InlineEdit } from '../../ui/inline-edit';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { PageHead } from '../../ui/page-head';
import { PageTabs } from '../../ui/page-tabs';
import { Section } from '../../ui/section';
import { Waiting } from '../../ui/waiting';
import { DeletePrompt } from './delete-prompt';
import { LivePrompts, usePromptChanged } from './live-prompts';
import type { LoadedPrompt } from './loaded-prompt';
import { currentRevision, noteChange } from './own-changes';
import { PromptDiff } from './prompt-diff';
import { PromptEditor } from './prompt-editor';
import { PromptRender } from './prompt-render';
import { PromptStats } from './prompt-stats';
import { PromptVersions } from './prompt-versions';
import classes from './prompts.module.css';
import { PROMPT_TABS, type PromptTab } from './prompts-search';

/** `/dashboard/prompts/{id}` */
export function PromptPage(): ReactNode {
  const { promptId } = useParams({ from: '/signed-in/dashboard/prompts/$promptId' });
  return (
    <LivePrompts>
      <PromptById key={promptId} promptId={promptId} />
    </LivePrompts>
  );
}

function PromptById({ promptId }: { promptId: string }) {
  const { tab = 'editor' } = useSearch({ from: '/signed-in/dashboard/prompts/$promptId' });
  const { data, error, refresh } = usePageQuery({ query: PromptDocument, variables: { id: promptId } });
  const [deleted, setDeleted] = useState(false);
  const prompt = data?.viewer?.prompt;
  usePromptChanged((change) => {
    if (change.promptId !== prompt?.id) return;
    if (change.deleted) setDeleted(true);
    else refresh();
  });
  const gone = deleted || error?.code === 'not_found';
  return (
    <>
      <Link to={paths.prompts} className={classes.back}>
        ← Prompts
      </Link>
      {error && !gone && !prompt && <PageHead title="Prompt" />}
      {error && !gone && <LoadError error={error} onRetry={refresh} />}
      {gone && (
        <PageHead
          title="Prompt not found"
          lead="It was deleted, or the URL is wrong. Calls that named its versions stay in the usage list."
        />
      )}
      {!prompt && !error && <Waiting width={240} height={32} />}
      {prompt && !gone && (
        <>
          <PromptHead prompt={prompt} />
          <Tabs promptId={promptId} tab={tab} />
          <Tab prompt={prompt} tab={tab} />
        </>
      )}
    </>
  );
}

function PromptHead({ prompt }: { prompt: LoadedPrompt }) {
  return (
    <PageHead
      title={prompt.name}
      lead={
        <>
          {prompt.description && (
            <>
              {prompt.description}
              <br />
            </>
          )}
          <span className={classes.slug}>{prompt.slug}</span>, version {prompt.activeVersion.version} of{' '}
          {prompt.versionCount} is active, updated <Moment at={prompt.updatedAt} ago />
        </>
      }
      tools={<CopyButton text={prompt.slug} what="slug" />}
    />
  );
}

function Tabs({ promptId, tab }: { promptId: string; tab: PromptTab }) {
  return (
    <PageTabs label="About this prompt">
      {PROMPT_TABS.map(({ id, label }) => (
        <Link
          key={id}
          to={paths.prompt}
          params={{ promptId }}
          search={({ after: _after, ...before }) => ({ ...before, tab: id })}
          activeProps={{}}
          aria-current={id === tab ? 'page' : undefined}
          replace
        >
          {label}
        </Link>
      ))}
    </PageTabs>
  );
}

function Tab({ prompt, tab }: { prompt: LoadedPrompt; tab: PromptTab }) {
  if (tab === 'versions') return <PromptVersions prompt={prompt} />;
  if (tab === 'diff') return <PromptDiff prompt={prompt} />;
  if (tab === 'render') return <PromptRender prompt={prompt} />;
  if (tab === 'stats') return <PromptStats prompt={prompt} />;
  return (
    <>
      <PromptEditor prompt={prompt} />
      <Settings prompt={prompt} />
    </>
  );
}

const check = schemaErrors(updatePromptInput);

/** Name and description, each edited in place, and the button that deletes the prompt. */
function Settings({ prompt }: { prompt: LoadedPrompt }) {
  const { id, name, description } = prompt;
  const navigate = useNavigate();
  const { run } = useAction(UpdatePromptDocument);
  const set = async (change: { name?: string; description?: string | null }) => {
    const expectedRevision = currentRevision(prompt);
    const { data, error } = await run({ input: { id, expectedRevision, ...change } });
    if (data) noteChange(data.updatePrompt.prompt, expectedRevision);
    return error ?? null;
  };
  return (
    <Section
      title="About this prompt"
      tools={<DeletePrompt prompt={prompt} onDeleted={() => void navigate({ to: paths.prompts })} />}
    >
      <div>
        <InlineEdit
          label="Name"
          draft={`name of prompt ${id}`}
          value={name}
          check={(text) => check({ name: text }).name}
          save={(text) => set({ name: text })}
        >
          {name}
        </InlineEdit>
        <InlineEdit
          label="Description"
          draft={`description of prompt ${id}`}
          value={description ?? ''}
          check={(text) => check({ description: text }).description}
          save={(text) => set({ description: text || null })}
        >
          {description ?? <span className={classes.hint}>None</span>}
        </InlineEdit>
      </div>
    </Section>
  );
}

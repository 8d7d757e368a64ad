import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { PromptVersionsDocument, type VersionPartsFragment } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { leaveDraft, useDraft } from '../../ui/draft';
import { ErrorNote } from '../../ui/error-note';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Note } from '../../ui/note';
import { Pager } from '../../ui/pager';
import { Section } from '../../ui/section';
import { StatusWord } from '../../ui/status-word';
import { Unseen } from '../../ui/unseen';
import { Waiting } from '../../ui/waiting';
import { usePromptChanged } from './live-prompts';
import type { LoadedPrompt } from './loaded-prompt';
import classes from './prompts.module.css';
import { useActivation } from './use-activation';
import { fieldsOf, versionDraft } from './version-fields';

/** Every version, newest first, and when each was active. */
export function PromptVersions({ prompt }: { prompt: LoadedPrompt }) {
  const { after } = useSearch({ from: '/signed-in/dashboard/prompts/$promptId' });
  const { data, error, refresh } = usePageQuery({
    query: PromptVersionsDocument,
    variables: { id: prompt.id, after: after ?? null },
    touches: ['Prompt'],
  });
  usePromptChanged(({ promptId, deleted }) => promptId === prompt.id && !deleted && refresh());
  const { activate, undo, error: refused, sending } = useActivation(prompt);
  const known = data?.viewer?.prompt;
  const page = known?.versions;
  const moves = known?.activations;
  const last = moves?.[0];
  const search = { tab: 'versions' } as const;
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      {refused && <ErrorNote error={refused} />}
      {known && last && (
        <Note
          tone="plain"
          action={
            <Button size="xs" variant="default" loading={sending} onClick={() => void undo(known.revision)}>
              Undo: activate version {last.fromVersion}
            </Button>
          }
        >
          Version {last.toVersion} became active <Moment at={last.at} ago />, after version {last.fromVersion}
          .
        </Note>
      )}
      {!page && !error && <Waiting height={240} />}
      <ol className={classes.versions} aria-label="Versions">
        {page?.nodes.map((version) => (
          <Version
            key={version.id}
            prompt={prompt}
            version={version}
            sending={sending}
            onActivate={() => void activate(version.id)}
          />
        ))}
      </ol>
      <Pager
        newer={
          after !== undefined && (
            <Link to={paths.prompt} params={{ promptId: prompt.id }} search={search}>
              Newest
            </Link>
          )
        }
        older={
          page?.pageInfo.hasNextPage && (
            <Link
              to={paths.prompt}
              params={{ promptId: prompt.id }}
              search={{ ...search, after: page.pageInfo.endCursor! }}
            >
              Older
            </Link>
          )
        }
      />
      {moves && moves.length > 0 && (
        <Section title="Activations">
          <ol className={classes.moves}>
            {moves.map(({ at, fromVersion, toVersion }) => (
              <li key={at}>
                Version {fromVersion} → {toVersion}, <Moment at={at} />
              </li>
            ))}
          </ol>
        </Section>
      )}
    </>
  );
}

interface VersionProps {
  prompt: LoadedPrompt;
  version: VersionPartsFragment;
  sending: boolean;
  onActivate(): void;
}

function Version({ prompt, version, sending, onActivate }: VersionProps) {
  const { id, version: number, notes, createdAt, content, config } = version;
  const isActive = id === prompt.activeVersionId;
  const active = prompt.activeVersion.version;
  return (
    <li>
      <span className={classes.number}>{number}</span>
      <div className={classes.about}>
        <div className={classes.facts}>
          {isActive && <StatusWord tone="good">active</StatusWord>}
          <span>
            saved <Moment at={createdAt} />
          </span>
          {config && <span>{configWords(config)}</span>}
        </div>
        {notes && <p>{notes}</p>}
        <details>
          <summary>Show text</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and the keyboard must be able to */}
          <pre className={classes.content} tabIndex={0}>
            {content}
          </pre>
        </details>
      </div>
      <div className={classes.actions}>
        {!isActive && (
          <>
            <Button size="xs" variant="default" loading={sending} onClick={onActivate}>
              {number < active ? 'Roll back to' : 'Activate'} version {number}
            </Button>
            <ButtonLink
              size="xs"
              variant="subtle"
              to={paths.prompt}
              params={{ promptId: prompt.id }}
              search={{ tab: 'diff', from: Math.min(active, number), to: Math.max(active, number) }}
            >
              Compare with active<Unseen> for version {number}</Unseen>
            </ButtonLink>
          </>
        )}
        <EditFrom prompt={prompt} version={version} />
      </div>
    </li>
  );
}

/** Begins a new version with the text of an old one. Unsaved changes are never replaced. */
function EditFrom({ prompt, version }: { prompt: LoadedPrompt; version: VersionPartsFragment }) {
  const navigate = useNavigate();
  const [unsaved] = useDraft(versionDraft(prompt.id));
  const newest = prompt.versions.nodes[0]!.version;
  if (unsaved !== undefined || version.version === newest) return null;
  const edit = (): void => {
    leaveDraft(
      versionDraft(prompt.id),
      JSON.stringify({
        base: newest,
        version: { ...fieldsOf(version), notes: `From version ${version.version}` },
      }),
    );
    void navigate({ to: paths.prompt, params: { promptId: prompt.id }, search: {} });
  };
  return (
    <Button size="xs" variant="subtle" onClick={edit}>
      Edit a copy<Unseen> of version {version.version}</Unseen>
    </Button>
  );
}

type Config = NonNullable<VersionPartsFragment['config']>;

/** `gateway/fast, temperature 0.2, max tokens 256` */
function configWords({ modelPublicName, temperature, maxTokens, topP }: Config): string {
  const named = [
    ['temperature', temperature],
    ['max tokens', maxTokens],
    ['top p', topP],
  ] as const;
  const parameters = named.flatMap(([name, value]) => (value == null ? [] : [`${name} ${value}`]));
  return [...(modelPublicName ? [modelPublicName] : []), ...parameters].join(', ');
}

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { PromptDiffDocument, type PromptDiffQuery } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { Awaiting } from '../../ui/awaiting';
import { Choice } from '../../ui/choice';
import { Empty } from '../../ui/empty';
import { LoadError } from '../../ui/load-error';
import { Waiting } from '../../ui/waiting';
import type { LoadedPrompt } from './loaded-prompt';
import classes from './prompt-diff.module.css';
import shared from './prompts.module.css';
import { firstPair, VersionChoice } from './version-choice';

type Diff = NonNullable<NonNullable<NonNullable<PromptDiffQuery['viewer']>['prompt']>['diff']>;

const VIEWS = [
  { value: 'inline', label: 'Inline' },
  { value: 'beside', label: 'Side by side' },
] as const;
type View = (typeof VIEWS)[number]['value'];

/** What changed between any two versions, word by word. */
export function PromptDiff({ prompt }: { prompt: LoadedPrompt }) {
  // A comparison is expensive, so a version isn't compared with itself.
  if (prompt.versionCount === 1) return <Empty>Nothing to compare yet: this prompt has one version.</Empty>;
  return <Comparison prompt={prompt} />;
}

function Comparison({ prompt }: { prompt: LoadedPrompt }) {
  const search = useSearch({ from: '/signed-in/dashboard/prompts/$promptId' });
  const navigate = useNavigate({ from: paths.prompt });
  const [view, setView] = useState<View>('inline');
  const active = prompt.activeVersion.version;
  const count = prompt.versionCount;
  const first = firstPair(active, count);
  const from = Math.min(search.from ?? first.from, count);
  const to = Math.min(search.to ?? first.to, count);
  const { data, error, awaiting, refresh } = usePageQuery({
    query: PromptDiffDocument,
    variables: { id: prompt.id, from, to },
  });
  const choose = (change: { from?: number; to?: number }): void =>
    void navigate({ search: (before) => ({ ...before, from, to, ...change }), replace: true });
  const diff = data?.viewer?.prompt?.diff;
  const choices = { count, active };
  return (
    <div className={shared.stack}>
      <div className={shared.pair}>
        <VersionChoice {...choices} label="From" value={from} onChange={(n) => choose({ from: n })} />
        <VersionChoice {...choices} label="To" value={to} onChange={(n) => choose({ to: n })} />
        <Choice label="View" options={VIEWS} value={view} onChange={setView} />
      </div>
      {error && <LoadError error={error} onRetry={refresh} />}
      {!diff && !error && <Waiting height={240} />}
      {diff && (
        <Awaiting awaiting={awaiting}>
          <Changes diff={diff} view={view} />
        </Awaiting>
      )}
    </div>
  );
}

function Changes({ diff, view }: { diff: Diff; view: View }) {
  const {
    fromVersion: from,
    toVersion: to,
    content,
    addedVariables,
    removedVariables,
    changedVariables,
    configChanged,
  } = diff;
  const other = [
    ...addedVariables.map((name) => `Variable ${name} added`),
    ...removedVariables.map((name) => `Variable ${name} removed`),
    ...changedVariables.map((name) => `Variable ${name} changed`),
    ...(configChanged ? ['Model or parameters changed'] : []),
  ];
  const sameText = content.every(({ kind }) => kind === 'SAME');
  return (
    <>
      {sameText && <p className={shared.hint}>The text is the same in both versions.</p>}
      {view === 'inline' ? (
        <Text label={`Changes from version ${from} to version ${to}`} parts={content} />
      ) : (
        <div className={classes.beside}>
          <Side version={from} parts={content.filter(({ kind }) => kind !== 'ADDED')} />
          <Side version={to} parts={content.filter(({ kind }) => kind !== 'REMOVED')} />
        </div>
      )}
      {other.length > 0 && (
        <ul className={classes.other}>
          {other.map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function Side({ version, parts }: { version: number; parts: Diff['content'] }) {
  return (
    <div className={classes.side}>
      <p aria-hidden="true">Version {version}</p>
      <Text label={`Version ${version}`} parts={parts} />
    </div>
  );
}

function Text({ label, parts }: { label: string; parts: Diff['content'] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and the keyboard must be able to
    <section className={classes.text} aria-label={label} tabIndex={0}>
      {parts.map(({ kind, text }, index) => {
        if (kind === 'ADDED') return <ins key={index}>{text}</ins>;
        if (kind === 'REMOVED') return <del key={index}>{text}</del>;
        return <span key={index}>{text}</span>;
      })}
    </section>
  );
}

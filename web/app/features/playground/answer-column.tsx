import { Button } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { isOnlyThinking, splitThinking } from '../../../../src/lib/thinking';
import { CopyButton } from '../../ui/copy-button';
import { formatCount, formatLatency } from '../../ui/format';
import { Money } from '../../ui/money';
import { SimulatedMark } from '../../ui/simulated';
import { StatusWord } from '../../ui/status-word';
import { useNow } from '../../ui/use-now';
import { Markdown } from './markdown';
import classes from './playground.module.css';
import { isOver, type ShownRun, tokensPerSecond } from './runs.rules';
import { useFollowEnd } from './use-follow-end';

export type AnswerView = 'markdown' | 'raw';

interface AnswerColumnProps {
  run: ShownRun;
  view: AnswerView;
  /** When the answer was requested on this page; undefined if it wasn't. */
  askedAtMs: number | undefined;
  isFastest: boolean;
  isShortest: boolean;
  onStop(): void;
}

/** One model's answer with its metrics. */
export function AnswerColumn({ run, view, askedAtMs, isFastest, isShortest, onStop }: AnswerColumnProps) {
  const text = run.responseContent ?? '';
  const { thinking, answer } = splitThinking(text);
  const box = useRef<HTMLElement>(null);
  const grows = useRef(!isOver(run));
  useFollowEnd(box, text, grows.current);
  const served = run.servedModelPublicName;
  return (
    <article className={classes.column} aria-label={run.modelPublicName}>
      <header>
        <h3>
          {run.modelPublicName}
          <SimulatedMark model={served ?? run.modelPublicName} />
        </h3>
      </header>
      {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: scrollable by keyboard */}
      <section
        ref={box}
        className={classes.answer}
        aria-label={`Answer of ${run.modelPublicName}`}
        aria-busy={!isOver(run)}
        tabIndex={0}
      >
        {text === '' && !isOver(run) && <WaitingSince atMs={askedAtMs} />}
        {view === 'markdown' && thinking !== '' && (
          <details className={classes.more}>
            <summary>Thinking</summary>
            <Markdown text={thinking} />
          </details>
        )}
        {view === 'markdown' ? <Markdown text={answer} /> : <pre className={classes.raw}>{text}</pre>}
      </section>
      {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: scrollable by keyboard */}
      <div className={classes.status}>
        <p role="status">
          <Status run={run} answer={answer} />
        </p>
        {isOver(run) ? (
          answer !== '' && <CopyButton text={answer} what="answer" />
        ) : (
          <Button size="xs" variant="default" aria-label={`Stop ${run.modelPublicName}`} onClick={onStop}>
            Stop
          </Button>
        )}
      </div>
      {served != null && served !== run.modelPublicName && (
        <p className={classes.hint}>Answered by its fallback, {served}.</p>
      )}
      <Metrics run={run} isFastest={isFastest} isShortest={isShortest} />
    </article>
  );
}

interface StatusProps {
  run: ShownRun;
  answer: string;
}

function Status({ run: { status, errorMessage, finishReason, outputTokens }, answer }: StatusProps) {
  switch (status) {
    case 'PENDING':
      return <StatusWord tone="idle">waiting</StatusWord>;
    case 'RUNNING':
      return <StatusWord tone="idle">answering</StatusWord>;
    case 'CANCELLED':
      return <StatusWord tone="warn">stopped</StatusWord>;
    case 'ERROR':
      return (
        <>
          <StatusWord tone="bad">failed</StatusWord> {errorMessage}
        </>
      );
    case 'SUCCESS':
      if (isOnlyThinking(answer, outputTokens, finishReason ?? null)) {
        return (
          <>
            <StatusWord tone="warn">no answer</StatusWord> All of this run’s tokens went into thinking.
          </>
        );
      }
      return finishReason === 'length' ? (
        <>
          <StatusWord tone="warn">cut off</StatusWord> at this run’s token limit
        </>
      ) : (
        <StatusWord tone="good">done</StatusWord>
      );
  }
}

interface MetricsProps {
  run: ShownRun;
  isFastest: boolean;
  isShortest: boolean;
}

const NOTHING = '–';

function Metrics({ run, isFastest, isShortest }: MetricsProps) {
  const { ttftMs, latencyMs, inputTokens, outputTokens, listCostUsd } = run;
  const ended = isOver(run);
  const pace = tokensPerSecond(run);
  const rows: [string, ReactNode, mark?: string | false][] = [
    ['Time to first token', ttftMs == null ? NOTHING : formatLatency(ttftMs)],
    ['Latency', latencyMs == null ? NOTHING : formatLatency(latencyMs), isFastest && 'fastest'],
    ['Tokens in', ended ? formatCount(inputTokens) : NOTHING],
    ['Tokens out', ended ? formatCount(outputTokens) : NOTHING, isShortest && 'shortest'],
    ['Tokens per second', pace === null ? NOTHING : pace.toFixed(1)],
    ['Would cost', ended ? <Money key="cost" usd={listCostUsd} /> : NOTHING],
  ];
  return (
    <dl className={classes.metrics}>
      {rows.map(([label, value, mark]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {mark && <span className={classes.mark}>{mark} </span>}
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const SECOND_MS = 1_000;

function WaitingSince({ atMs }: { atMs: number | undefined }) {
  const now = useNow(SECOND_MS);
  const seconds = atMs !== undefined && Math.max(0, Math.floor((now - atMs) / SECOND_MS));
  return <p className={classes.hint}>Waiting for the first token{seconds !== false && `, ${seconds} s`}</p>;
}

/** The column of a run that hasn't started yet. */
export function AwaitedColumn({ model, askedAtMs }: { model: string; askedAtMs: number }) {
  return (
    <article className={classes.column} aria-label={model} aria-busy="true">
      <header>
        <h3>
          {model}
          <SimulatedMark model={model} />
        </h3>
      </header>
      <div className={classes.answer}>
        <WaitingSince atMs={askedAtMs} />
      </div>
    </article>
  );
}

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { CreateKeyDocument, type OverviewQuery, type UsageRowFragment } from '../../../generated/graphql';
import { useUsageRecorded } from '../../graphql/live-usage';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { ErrorNote } from '../../ui/error-note';
import { Money } from '../../ui/money';
import { Note } from '../../ui/note';
import { PageHead } from '../../ui/page-head';
import { SecretOnce } from '../../ui/secret-once';
import { useSecretGuard } from '../../ui/use-secret-guard';
import { Snippets } from '../keys/snippets';
import { useLatestRefusal } from '../refusals/latest-refusal';
import { Arrived } from './arrived';
import classes from './overview.module.css';
import { Step, type StepState } from './step';

interface FirstRunProps {
  viewer: NonNullable<OverviewQuery['viewer']>;
  onDone(): void;
}

/**
 * The call to show: a successful one, otherwise the latest. Calls during a lost connection are only in the list.
 * @param live the latest call that came as an event
 * @param listed the last calls, newest first
 */
function callOf(
  live: UsageRowFragment | undefined,
  listed: readonly UsageRowFragment[],
): UsageRowFragment | undefined {
  const [newest] = listed;
  if (live?.status === 'SUCCESS') return live;
  return (
    listed.findLast(({ status }) => status === 'SUCCESS') ??
    (live && newest && newest.createdAt > live.createdAt ? newest : (live ?? newest))
  );
}

/** The steps to the first call: create a key, make a call, see its cost. Waits live for the call. */
export function FirstRun({ viewer, onDone }: FirstRunProps) {
  const { run, error, sending } = useAction(CreateKeyDocument);
  const [secret, setSecret] = useState<string>();
  const [saved, setSaved] = useState(false);
  const [live, setLive] = useState<UsageRowFragment>();
  useUsageRecorded((event) => setLive((first) => (first?.status === 'SUCCESS' ? first : event)));
  const call = callOf(live, viewer.usageEvents.nodes);
  const refusal = useLatestRefusal();
  const hasKey = secret !== undefined || viewer.apiKeys.totalCount > 0;
  const shown = secret !== undefined && !saved;
  const done = call?.status === 'SUCCESS';
  // After a call, the user must have the key. A log-out isn't blocked.
  const { asked, onCopied } = useSecretGuard(
    shown && !call,
    ({ current, next }) => next.pathname !== current.pathname && next.pathname !== paths.login,
  );
  const warning = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (asked) warning.current?.scrollIntoView({ block: 'center' });
  }, [asked]);
  const stateOf = (isDone: boolean, isNext: boolean): StepState =>
    isDone ? 'done' : isNext ? 'next' : 'later';
  const make = async (): Promise<void> => {
    const { data } = await run({ input: { name: 'My first key' } });
    if (data) setSecret(data.createApiKey.key);
  };
  return (
    <>
      <PageHead
        title="Overview"
        lead={
          <>
            You have <Money usd={viewer.balanceUsd} /> of credit on the {viewer.plan.name} plan, which allows{' '}
            {viewer.plan.requestsPerMinute} requests per minute. Make your first call in three steps; it takes
            about a minute.
          </>
        }
      />
      <ol className={classes.steps}>
        <Step number={1} title="Create an API key" state={stateOf(hasKey, true)}>
          {error && <ErrorNote error={error} />}
          {!hasKey && (
            <Button loading={sending} onClick={() => void make()}>
              Create my first key
            </Button>
          )}
          {shown && (
            <>
              {asked && !call && (
                <div ref={warning}>
                  <Note tone="warn">
                    You haven’t copied the key. It can’t be shown again after you leave this page. Leave again
                    to continue without it.
                  </Note>
                </div>
              )}
              <SecretOnce secret={secret} what="key" onCopied={onCopied} />
              <Button variant="default" onClick={() => setSaved(true)}>
                I’ve saved it
              </Button>
            </>
          )}
          {hasKey && !shown && (
            <p>
              {secret ? 'Saved. ' : 'You have a key. '}
              <Link to={paths.keys}>All keys</Link>
              {!secret && (
                <>
                  . Lost it?{' '}
                  <Link to={paths.keys} search={{ create: true }}>
                    Create another
                  </Link>
                </>
              )}
            </p>
          )}
        </Step>
        <Step number={2} title="Make your first call" state={stateOf(done, hasKey)}>
          {!hasKey && <p className={classes.later}>A snippet with your key appears here, ready to paste.</p>}
          {hasKey && <Snippets secret={shown ? secret : undefined} />}
          {hasKey && <Arrived call={call} refusal={refusal} />}
        </Step>
        <Step number={3} title="See what it cost" state={stateOf(false, done)}>
          {!done && (
            <p className={classes.later}>The call appears here automatically, with its latency and cost.</p>
          )}
          {done && (
            <div className={classes.onward}>
              <Button onClick={onDone}>Show usage</Button>
              <Link to={paths.usage}>See it in the usage list</Link>
            </div>
          )}
        </Step>
      </ol>
    </>
  );
}

import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import {
  PlaygroundRunDocument,
  type PlaygroundRunSubscription,
  type SessionPartsFragment,
} from '../../../generated/graphql';
import { advanced, isOver, type ShownRun } from './runs.rules';

type RunEvent = PlaygroundRunSubscription['playgroundRun'];
type Runs = ReadonlyMap<string, ShownRun>;

/**
 * The runs of a session as they grow. What has come is drawn once per frame, however many models talk at once. After a
 * lost connection the server tells everything again from the beginning.
 */
export function useLiveRuns({ id, runs }: SessionPartsFragment): readonly ShownRun[] {
  const client = useClient();
  const [live, setLive] = useState<Runs>(new Map());
  const first = useRef(runs);
  first.current = runs;
  const needsEvents = !runs.every(isOver);
  useEffect(() => {
    if (!needsEvents) return;
    let waiting: RunEvent[] = [];
    let frame: number | undefined;
    const draw = (): void => {
      frame = undefined;
      const events = waiting;
      waiting = [];
      setLive((before) => events.reduce((next, event) => withEvent(next, event, first.current), before));
    };
    const { unsubscribe } = client
      .subscription(PlaygroundRunDocument, { sessionId: id })
      .subscribe(({ data }) => {
        if (!data) return;
        waiting.push(data.playgroundRun);
        // A page that nobody sees draws no frames.
        if (document.hidden) draw();
        else frame ??= requestAnimationFrame(draw);
      });
    return () => {
      unsubscribe();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [client, id, needsEvents]);
  return runs.map((run) => (isOver(run) ? run : (live.get(run.id) ?? run)));
}

function withEvent(live: Runs, event: RunEvent, runs: readonly ShownRun[]): Runs {
  const before = live.get(event.runId) ?? runs.find(({ id }) => id === event.runId);
  return before ? new Map(live).set(event.runId, advanced(before, event)) : live;
}

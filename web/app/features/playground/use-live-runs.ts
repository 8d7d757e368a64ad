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

/** The first text waits this long for those of the other models, so that columns begin together. */
const TOGETHER_MS = 20;

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
    const pace = createPace(() => {
      const events = waiting;
      waiting = [];
      setLive((before) => events.reduce((next, event) => withEvent(next, event, first.current), before));
    });
    const { unsubscribe } = client
      .subscription(PlaygroundRunDocument, { sessionId: id })
      .subscribe(({ data }) => {
        if (!data) return;
        waiting.push(data.playgroundRun);
        pace.came(data.playgroundRun.delta !== '');
      });
    return () => {
      unsubscribe();
      pace.stop();
    };
  }, [client, id, needsEvents]);
  return runs.map((run) => (isOver(run) ? run : (live.get(run.id) ?? run)));
}

function withEvent(live: Runs, event: RunEvent, runs: readonly ShownRun[]): Runs {
  const before = live.get(event.runId) ?? runs.find(({ id }) => id === event.runId);
  return before ? new Map(live).set(event.runId, advanced(before, event)) : live;
}

/** Calls `draw` at most once per frame. The first text waits for those of the other models. */
function createPace(draw: () => void) {
  let frame: number | undefined;
  let together: ReturnType<typeof setTimeout> | undefined;
  let begun = false;
  const drawNext = (): void => {
    frame = undefined;
    draw();
  };
  const drawSoon = (): void => {
    // A hidden page has no frames.
    if (document.hidden) draw();
    else frame ??= requestAnimationFrame(drawNext);
  };
  const begin = (): void => {
    begun = true;
    if (frame !== undefined) cancelAnimationFrame(frame);
    frame = undefined;
    together = setTimeout(() => {
      together = undefined;
      drawSoon();
    }, TOGETHER_MS);
  };
  return {
    came(isText: boolean): void {
      if (isText && !begun) begin();
      else if (together === undefined) drawSoon();
    },
    stop(): void {
      clearTimeout(together);
      if (frame !== undefined) cancelAnimationFrame(frame);
    },
  };
}

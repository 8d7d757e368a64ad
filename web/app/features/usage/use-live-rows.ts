import { useEffect, useMemo, useRef, useState } from 'react';
import type { UsageRowFragment } from '../../../generated/graphql';
import { useUsageRecorded } from '../../graphql/live-usage';
import { onLiveMissed } from '../../session';

/** The most rows that are added by themselves. More rows would move the list away from its reader, who can ask for them. */
const MOST_NEW = 50;
const FRESH_MS = 1_000;
const MOST_WAITING = 500;

interface LiveRows {
  /** Live and loaded rows, each once, newest first. */
  rows: readonly UsageRowFragment[] | undefined;
  /** Ids of rows that came in the last second or two. */
  fresh: ReadonlySet<string>;
  /** The number of further rows that aren't shown. */
  held: number;
  /** Shows the held rows with the next loaded list. */
  release(): void;
}

interface Come {
  /** The filter, as a string. */
  shown: string;
  rows: readonly UsageRowFragment[];
  held: number;
  fresh: ReadonlySet<string>;
  /** The list that was loaded when the first row was held. Lists that are loaded later aren't shown while rows are held. */
  base: readonly UsageRowFragment[] | undefined;
}

const NOTHING: ReadonlySet<string> = new Set();

/** The order of the server. The event of a long call may come after that of a call that ended later. */
const newestFirst = (a: UsageRowFragment, b: UsageRowFragment): number =>
  a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1;

/**
 * Calls back at most once per frame, with all events since the last time.
 * @param take also gets whether events were dropped because there were too many.
 */
function useUsageByFrame(take: (events: readonly UsageRowFragment[], areSomeLost: boolean) => void): void {
  const waiting = useRef<UsageRowFragment[]>([]);
  const areSomeLost = useRef(false);
  const frame = useRef<number>(undefined);
  const latest = useRef(take);
  latest.current = take;
  useUsageRecorded((event) => {
    waiting.current.push(event);
    // A hidden page has no frames.
    if (waiting.current.length > MOST_WAITING) {
      waiting.current.shift();
      areSomeLost.current = true;
    }
    frame.current ??= requestAnimationFrame(() => {
      frame.current = undefined;
      const lost = areSomeLost.current;
      areSomeLost.current = false;
      latest.current(waiting.current.splice(0), lost);
    });
  });
  useEffect(
    () => () => {
      if (frame.current !== undefined) cancelAnimationFrame(frame.current);
    },
    [],
  );
}

/**
 * A loaded list with the calls that come meanwhile. After missed events, live rows are dropped when the next list is loaded: otherwise
 * rows could be missing in between.
 * @param shown the filter, as a string: when it changes, live rows are forgotten
 * @param hold whether rows beyond the first 50 are held until the user asks for them; otherwise the newest 50 are kept
 * @param hasMore whether the loaded list has another page, which has all calls older than its last row
 */
export function useLiveRows(
  loaded: readonly UsageRowFragment[] | undefined,
  shown: string,
  belongs: (event: UsageRowFragment) => boolean,
  { hold = false, hasMore = false }: { hold?: boolean; hasMore?: boolean } = {},
): LiveRows {
  const none: Come = { shown, rows: [], held: 0, fresh: NOTHING, base: undefined };
  const [state, setCome] = useState<Come>(none);
  const come = state.shown === shown ? state : none;
  const timer = useRef<number>(undefined);
  const released = useRef<readonly UsageRowFragment[]>(undefined);

  const release = (): void => {
    released.current = loaded;
  };
  const releaseLatest = useRef(release);
  releaseLatest.current = release;
  useEffect(() => {
    const stop = onLiveMissed(() => releaseLatest.current());
    return () => void stop();
  }, []);

  useUsageByFrame((events, areSomeLost) => {
    if (areSomeLost) release();
    if (!events.some(belongs)) return;
    setCome((former) => {
      const before = former.shown === shown ? former : none;
      // The list may have been loaded between a call and its event.
      const list = before.base ?? loaded ?? [];
      const known = new Set(list.map(({ id }) => id));
      const last = hasMore ? list.at(-1) : undefined;
      const isNew = (event: UsageRowFragment): boolean =>
        belongs(event) && !known.has(event.id) && (!last || newestFirst(event, last) < 0);
      const news = events.filter(isNew);
      const room = hold ? MOST_NEW - before.rows.length : news.length;
      const added = before.held > 0 ? [] : news.slice(0, room);
      const held = before.held + news.length - added.length;
      return {
        shown,
        rows: [...added.toReversed(), ...before.rows].slice(0, MOST_NEW),
        held,
        fresh: new Set([...before.fresh, ...added.map(({ id }) => id)]),
        base: held > 0 ? (before.base ?? loaded) : undefined,
      };
    });
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      setCome((before) => ({ ...before, fresh: NOTHING }));
    }, FRESH_MS);
  });
  useEffect(() => () => window.clearTimeout(timer.current), []);

  // The next list was loaded: drops live rows.
  useEffect(() => {
    if (released.current === undefined || released.current === loaded) return;
    released.current = undefined;
    setCome((before) => ({ ...before, rows: [], held: 0, base: undefined }));
  }, [loaded]);

  const list = come.base ?? loaded;
  const rows = useMemo(() => {
    if (!list || come.rows.length === 0) return list;
    const known = new Set(list.map(({ id }) => id));
    return [...come.rows.filter(({ id }) => !known.has(id)), ...list].sort(newestFirst);
  }, [list, come.rows]);
  return { rows, fresh: come.fresh, held: come.held, release };
}

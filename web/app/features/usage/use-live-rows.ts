import { useEffect, useMemo, useRef, useState } from 'react';
import type { UsageRowFragment } from '../../../generated/graphql';
import { useUsageRecorded } from '../../graphql/live-usage';
import { onLiveMissed } from '../../session';

/** New rows that come by themselves. Whoever reads a longer list asks for the rest: it would run away from them. */
const MOST_NEW = 50;
const FRESH_MS = 1_000;
const MOST_WAITING = 500;

interface LiveRows {
  /** Newest first: what came live and what was loaded, each once. */
  rows: readonly UsageRowFragment[] | undefined;
  /** Ids of those that came in the last second or two. */
  fresh: ReadonlySet<string>;
  /** How many more there are, which are not shown. */
  held: number;
  /** Shows them, with the list that is loaded next. */
  release(): void;
}

interface Come {
  /** What is shown, as text. */
  shown: string;
  rows: readonly UsageRowFragment[];
  held: number;
  fresh: ReadonlySet<string>;
  /** What was loaded when the first row was held: what is loaded behind it stays out of sight with it. */
  base: readonly UsageRowFragment[] | undefined;
}

const NOTHING: ReadonlySet<string> = new Set();

/** As the server orders them: a call that took long may be told after one that ended later. */
const newestFirst = (a: UsageRowFragment, b: UsageRowFragment): number =>
  a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1;

/**
 * Calls back at most once a frame, with all events since the time before.
 * @param take is told, too, whether there were more events than are kept.
 */
function useUsageByFrame(take: (events: readonly UsageRowFragment[], areSomeLost: boolean) => void): void {
  const waiting = useRef<UsageRowFragment[]>([]);
  const areSomeLost = useRef(false);
  const frame = useRef<number>(undefined);
  const latest = useRef(take);
  latest.current = take;
  useUsageRecorded((event) => {
    waiting.current.push(event);
    // No frame comes while nobody looks.
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
 * A loaded list with the calls that come meanwhile. Where events were missed, it begins anew with the list that is loaded next:
 * between rows from before and after, some would be missing.
 * @param shown what is shown, as text: when it changes, what came before is forgotten
 * @param hold whether rows beyond the first 50 wait to be asked for; else the newest 50 are kept
 * @param hasMore whether the loaded list goes on: what is older than its last row is on the next page
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
  const beginAnew = useRef(release);
  beginAnew.current = release;
  useEffect(() => {
    const stop = onLiveMissed(() => beginAnew.current());
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

  // What was asked for has come: the list begins anew with it.
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

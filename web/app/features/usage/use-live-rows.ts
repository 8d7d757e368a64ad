import { useEffect, useRef, useState } from 'react';
import type { UsageRowFragment } from '../../../generated/graphql';
import { useUsageRecorded } from '../../graphql/live-usage';

/** Rows that came while the page was open; older ones are on the next page of the list anyway. */
const MOST = 500;
const FRESH_MS = 1_000;

interface LiveRows {
  /** Newest first: what came live and what was loaded, each once. */
  rows: readonly UsageRowFragment[] | undefined;
  /** Ids of those that came in the last second. */
  fresh: ReadonlySet<string>;
}

/** As the server orders them: a call that took long may be told after one that ended later. */
const newestFirst = (a: UsageRowFragment, b: UsageRowFragment): number =>
  b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id);

/**
 * A loaded list with the calls that come meanwhile.
 * @param shown what is shown, as text: when it changes, what came before is forgotten
 */
export function useLiveRows(
  loaded: readonly UsageRowFragment[] | undefined,
  shown: string,
  belongs: (event: UsageRowFragment) => boolean,
): LiveRows {
  const [come, setCome] = useState<{ shown: string; rows: UsageRowFragment[] }>({ shown, rows: [] });
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const timers = useRef(new Set<number>());
  useUsageRecorded((event) => {
    if (!belongs(event)) return;
    setCome((before) => ({
      shown,
      rows: [event, ...(before.shown === shown ? before.rows : [])].slice(0, MOST),
    }));
    setFresh((before) => new Set([...before, event.id]));
    const timer = window.setTimeout(() => {
      timers.current.delete(timer);
      setFresh((before) => new Set([...before].filter((id) => id !== event.id)));
    }, FRESH_MS);
    timers.current.add(timer);
  });
  useEffect(() => () => timers.current.forEach((timer) => void window.clearTimeout(timer)), []);
  if (!loaded) return { rows: undefined, fresh };
  const known = new Set(loaded.map(({ id }) => id));
  const live = come.shown === shown ? come.rows.filter(({ id }) => !known.has(id)) : [];
  return { rows: live.length === 0 ? loaded : [...live, ...loaded].sort(newestFirst), fresh };
}

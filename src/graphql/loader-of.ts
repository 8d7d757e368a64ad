import DataLoader from 'dataloader';
import { type Camel, camelCased } from './case.js';

/** Objects by id, however many ask for one; null for one that is gone or not the viewer's. */
export const loaderOf = <T>(
  read: (ids: readonly string[]) => Promise<readonly T[]>,
  idOf: (found: T) => string,
): DataLoader<string, Camel<T> | null> =>
  new DataLoader(async (ids) => {
    const found = new Map((await read(ids)).map((one) => [idOf(one), camelCased(one)]));
    return ids.map((id) => found.get(id) ?? null);
  });

/** What objects have in a window or on a page: one reading for each that aliases ask for. */
export const windowLoaderOf = <Window extends object, T, None>(
  read: (ids: readonly string[], window: Window) => Promise<Iterable<readonly [string | null, T]>>,
  none: None,
): DataLoader<{ id: string; window: Window }, T | None, string> =>
  new DataLoader<{ id: string; window: Window }, T | None, string>(
    async (wanted) => {
      const found = new Map<string, T>();
      for (const list of Map.groupBy(wanted, ({ window }) => JSON.stringify(window)).values()) {
        const { window } = list[0]!;
        const ids = list.map(({ id }) => id);
        for (const [id, one] of await read(ids, window)) found.set(nameOf({ id: `${id}`, window }), one);
      }
      return wanted.map((one) => found.get(nameOf(one)) ?? none);
    },
    { cacheKeyFn: nameOf },
  );

const nameOf = ({ id, window }: { id: string; window: object }): string => `${id} ${JSON.stringify(window)}`;

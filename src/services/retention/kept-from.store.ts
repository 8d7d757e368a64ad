import { sql } from 'kysely';

/** The time from which usage events are kept, as SQL: `-infinity` until the first removal. A UTC midnight. */
export const KEPT_FROM = `coalesce((select kept_from from usage_retention), '-infinity')`;

export const keptFrom = sql.raw<Date>(KEPT_FROM);

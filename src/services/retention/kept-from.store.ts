import { sql } from 'kysely';

/** The time from which usage events are kept, as SQL: a UTC midnight, or `-infinity` until the first removal. */
export const KEPT_FROM = `coalesce((select kept_from from usage_retention), '-infinity')`;

export const keptFrom = sql.raw<Date>(KEPT_FROM);

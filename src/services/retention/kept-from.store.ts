import { sql } from 'kysely';

/** From when on usage events are there, as SQL: for ever, while none was ever removed. A UTC midnight. */
export const KEPT_FROM = `coalesce((select kept_from from usage_retention), '-infinity')`;

export const keptFrom = sql.raw<Date>(KEPT_FROM);

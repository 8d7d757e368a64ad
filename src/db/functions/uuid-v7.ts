import type { SqlFunction } from './sql-function.js';

/**
 * A UUIDv7, the `nth` of several made together: within a millisecond, they sort by it. PostgreSQL has none before
 * version 18.
 */
export const uuidV7: SqlFunction = {
  name: 'uuid_v7',
  sql: `
create or replace function uuid_v7(nth bigint) returns uuid language sql volatile as $$
  select encode(overlay(uuid_send(gen_random_uuid()) placing
    substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
      || int2send((x'7000'::integer + nth % 4096)::smallint) from 1 for 8), 'hex')::uuid
$$`,
};

import type { SqlFunction } from './sql-function.js';

/**
 * Makes the `nth` UUIDv7 of several made together, which sort by `nth` within a millisecond. PostgreSQL has no UUIDv7 before
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

import { readdirSync } from 'node:fs';
import { migrations } from '../../src/db/migrations.js';
import { SCHEMA_VERSION } from '../../src/db/schema-version.js';

/** The newest released migration, and the number of released ones. Raise both at each release. */
const SHIPPED = { last: 'Migration20261221000000', count: 32 };
/** The last migration before functions got their own files. */
const LAST_WITH_FUNCTIONS = 'Migration20261126000000';

test('every migration of the folder is in the list, oldest first', () => {
  const files = readdirSync('src/db/migrations').filter((name) => /^Migration\d+\.ts$/.test(name));
  expect(files.length).toBeGreaterThan(0);
  expect(migrations.map(({ name }) => `${name}.ts`)).toEqual(files.sort());
  expect(migrations.map((one) => one.class.name)).toEqual(migrations.map(({ name }) => name));
});

test('no new migration sorts before a released one, which other processes would not wait for', () => {
  const shipped = migrations.slice(0, SHIPPED.count);
  expect([shipped.length, shipped.at(-1)!.name]).toEqual([SHIPPED.count, SHIPPED.last]);
});

test('the newest migration is the version that every process waits for', () => {
  expect(SCHEMA_VERSION).toBe(migrations.at(-1)!.name);
});

test('no new migration creates a function, since functions have their own files', () => {
  const makers = migrations.filter((migration) => {
    const made = new migration.class(undefined as never, undefined as never);
    made.up();
    return made.getQueries().some((query) => /create\s+(?:or\s+replace\s+)?function/i.test(String(query)));
  });
  expect(makers.length).toBeGreaterThan(0);
  expect(makers.map(({ name }) => name).filter((name) => name > LAST_WITH_FUNCTIONS)).toEqual([]);
});

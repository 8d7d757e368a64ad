import { readdirSync } from 'node:fs';
import { migrations } from '../../src/db/migrations.js';

test('every migration of the folder is in the list, oldest first', () => {
  const files = readdirSync('src/db/migrations').filter((name) => /^Migration\d+\.ts$/.test(name));
  expect(files.length).toBeGreaterThan(0);
  expect(migrations.map(({ name }) => `${name}.ts`)).toEqual(files.sort());
  expect(migrations.map((one) => one.class.name)).toEqual(migrations.map(({ name }) => name));
});

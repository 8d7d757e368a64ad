import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names that two rooms may share, each with the reason why both have it. */
const SHARED: Readonly<Record<string, string>> = {
  Viewer: 'the session of a request, and the GraphQL type that shows it',
};

/** A GraphQL type has its entity's name: it is what that entity looks like from outside. */
const isTypeOfEntity = (files: ReadonlySet<string>): boolean =>
  files.size === 2 &&
  [/^entities\//, /^graphql\/.*\.types\.ts$/].every((room) => [...files].some((file) => room.test(file)));

const DECLARATION =
  /^export (?:default )?(?:abstract )?(?:async )?(?:class|interface|type|function\*?|const|let|enum) (\w+)/gm;

/** Files by exported name. Migrations are read by their number. */
function declarations(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.includes('migrations/')) continue;
    for (const [, name] of readFileSync(join('src', file), 'utf8').matchAll(DECLARATION)) {
      found.set(name!, (found.get(name!) ?? new Set()).add(file));
    }
  }
  return found;
}

describe('exported names', () => {
  const shared = [...declarations()].filter(([, files]) => files.size > 1);

  test('have one meaning each, but for those that are listed with a reason', () => {
    const unexplained = shared.filter(([name, files]) => !(name in SHARED) && !isTypeOfEntity(files));
    expect(unexplained.map(([name, files]) => `${name}: ${[...files].join(', ')}`)).toEqual([]);
  });

  test('are listed only as long as two files have them', () => {
    expect(shared.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(SHARED)));
  });
});

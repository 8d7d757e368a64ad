import { migrations } from '../../src/db/migrations.js';
import { lockingStatements } from './locking-statements.js';

/** Released before the rule existed. A released migration never changes. */
const RELEASED = new Set(['Migration20261121000000', 'Migration20261122000000', 'Migration20261123000000']);

/** The statements of a migration. */
function statementsOf(migration: (typeof migrations)[number]): string[] {
  const made = new migration.class(undefined as never, undefined as never);
  made.up();
  return made.getQueries().map(String);
}

describe('migrations and the tables that every call writes to', () => {
  test('no new migration blocks writers while it reads a whole table', () => {
    const locking = migrations
      .filter(({ name }) => !RELEASED.has(name))
      .flatMap((migration) =>
        lockingStatements(statementsOf(migration)).map((statement) => `${migration.name}: ${statement}`),
      );
    expect(locking).toEqual([]);
  });

  test('the released migrations are still there, and one of them breaks the rule', () => {
    const released = migrations.filter(({ name }) => RELEASED.has(name));
    expect(released).toHaveLength(RELEASED.size);
    expect(released.flatMap((migration) => lockingStatements(statementsOf(migration)))).toEqual([
      'alter table ledger_entries add constraint ledger_entries_charge_id check (event_id = id)',
    ]);
  });

  test.each([
    'alter table calls add check (cost >= 0)',
    'alter table only ledger_entries add constraint a foreign key (account_id) references accounts (id)',
    'ALTER TABLE "calls"\n  ADD COLUMN a int,\n  ADD CONSTRAINT b CHECK (a > 0)',
    'alter table public.calls add constraint a check (b) not valid, add constraint c check (d)',
    'alter table calls add column a int check (a > 0)',
    'alter table ledger_entries alter column description set not null',
    'alter table calls add constraint a check (b) not valid; alter table calls validate constraint a',
  ])('refused: %s', (sql) => expect(lockingStatements([sql])).toHaveLength(1));

  test.each([
    'alter table calls add constraint a check (b in (1, 2)) not valid',
    'alter table calls validate constraint a',
    'alter table calls add column a int, add column b text',
    'alter table plans add constraint a check (b)',
    'create table calls_extra (a int check (a > 0))',
    "comment on table calls is 'alter table calls add check'",
  ])('taken: %s', (sql) => expect(lockingStatements([sql])).toEqual([]));
});

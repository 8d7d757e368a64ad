import { sql } from 'kysely';
import { MAILBOX_SQL } from '../../src/entities/accounts/account.js';
import { mailboxOf } from '../../src/services/accounts/accounts.rules.js';
import { usePlatform } from '../support/platform-suite.js';

describe('accounts of one mailbox', () => {
  const suite = usePlatform();

  test('are found by the index on it', async () => {
    await suite.db.orm.em.fork().transactional(async (em) => {
      const db = em.getKysely();
      // A table of a few rows is read whole where that is possible.
      await sql`set local enable_seqscan = off`.execute(db);
      const { rows } = await sql`
        explain select 1 from accounts where email_key is not null and ${sql.raw(MAILBOX_SQL)} = 'a@example.com'`.execute(
        db,
      );
      expect(JSON.stringify(rows)).toContain('accounts_mailbox');
    });
  });

  test.each([
    ['ada@example.com', 'ada@example.com'],
    ['a.d.a@example.com', 'a.d.a@example.com'],
    ['a.d.a+b.c+d@example.com', 'a.d.a@example.com'],
    ['+ada+b@example.com', '+ada+b@example.com'],
    ['a.d.a@gmail.com', 'ada@gmail.com'],
    ['a.d.a+b.c+d@googlemail.com', 'ada@gmail.com'],
    ['+a.d.a@gmail.com', '+ada@gmail.com'],
    ['a.d.a@gmail.com.example', 'a.d.a@gmail.com.example'],
    ['a.d.a@mail.gmail.com', 'a.d.a@mail.gmail.com'],
  ])('are the same in SQL: %s', async (email, mailbox) => {
    const { rows } = await suite.db.pool.query(
      `select ${MAILBOX_SQL} as mailbox from (select $1 as email_key) a`,
      [email],
    );
    expect([rows, mailboxOf(email)]).toEqual([[{ mailbox }], mailbox]);
  });
});

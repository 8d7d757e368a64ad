import { Migration } from '@mikro-orm/migrations';

/** Errors that are the caller's: refused calls and calls ended early. `/status` leaves them out. Hours with failures are rolled up again. */
export class Migration20261215000000 extends Migration {
  override up(): void {
    this.addSql('alter table model_hours add column caller_errors bigint not null default 0');
    this.addSql('alter table model_hours alter column caller_errors drop default');
    this.addSql('insert into rollup_dirty select distinct hour from model_hours where errors > 0');
  }
}

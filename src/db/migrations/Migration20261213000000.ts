import { Migration } from '@mikro-orm/migrations';

/** Input tokens of playground runs per account and day: prompts of 50,000 characters cost as much as long answers. */
export class Migration20261213000000 extends Migration {
  override up(): void {
    this.addSql(
      'alter table playground_days add column input_tokens bigint not null default 0 check (input_tokens >= 0)',
    );
    this.addSql('alter table playground_days alter column input_tokens drop default');
  }
}

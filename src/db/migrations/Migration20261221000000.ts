import { Migration } from '@mikro-orm/migrations';

/** Answers for which a node reported zero tokens. Hours that were rolled up before have none. */
export class Migration20261221000000 extends Migration {
  override up(): void {
    this.addSql('alter table node_hours add column uncounted bigint not null default 0');
  }
}

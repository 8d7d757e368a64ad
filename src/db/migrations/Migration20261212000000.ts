import { Migration } from '@mikro-orm/migrations';

/** Edges call `record_calls` (docs/decisions/0123-prompt-versions-of-calls.md), and no release calls the function before it. */
export class Migration20261212000000 extends Migration {
  override up(): void {
    this.addSql('drop function flush_usage');
  }
}

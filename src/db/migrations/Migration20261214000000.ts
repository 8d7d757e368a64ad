import { Migration } from '@mikro-orm/migrations';

/**
 * Elements that were the word `null` have been written as NULL. They become the word again: a list that loses its last site
 * would allow any.
 */
export class Migration20261214000000 extends Migration {
  override up(): void {
    this.addSql(`update widgets set allowed_domains = array_replace(allowed_domains, null, 'null')
      where array_position(allowed_domains, null) is not null`);
    this.addSql(`update gpu_heartbeats set loaded_models = array_replace(loaded_models, null, 'null')
      where array_position(loaded_models, null) is not null`);
  }
}

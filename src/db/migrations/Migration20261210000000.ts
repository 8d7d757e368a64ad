import { Migration } from '@mikro-orm/migrations';

/** Which deployment served a call, what each node served by the hour, and how sure the figures of a benchmark are. */
export class Migration20261210000000 extends Migration {
  override up(): void {
    this.addSql(
      'alter table usage_events add column deployment text, add column node_id uuid, add column node_calls integer',
    );
    this.addSql(nodeHours);
    this.addSql('alter table gpu_benchmarks add column intervals jsonb');
  }
}

/** Kept like other roll-ups; it outlives its node. */
const nodeHours = `
create table node_hours (
  hour timestamptz(6) not null,
  node_id uuid not null,
  deployment text not null,
  model text not null,
  band smallint not null,
  requests bigint not null,
  errors bigint not null,
  busy_ms bigint not null,
  cost numeric not null,
  latency_buckets smallint[] not null,
  latency_counts bigint[] not null,
  primary key (hour, node_id, deployment, model, band)
)`;

import { Migration } from '@mikro-orm/migrations';

/** Log-ins and sign-ups count per network (docs/decisions/0100-fair-log-ins.md). */
export class Migration20261126000000 extends Migration {
  override up(): void {
    this.addSql(wideNetworks);
    this.addSql(networkCounts);
    this.addSql(knownNetworks);
  }
}

/** HMACs of the IPv6 /56 and /48 that a failure came from; null for IPv4. */
const wideNetworks = `
alter table login_failures add column middle_hash text, add column wide_hash text`;

/** Attempts and failures of one name (an HMAC) since its window began. */
const networkCounts = `
create table network_counts (
  name text primary key,
  attempts integer not null,
  failures integer not null,
  ends_at timestamptz(6) not null
);
create index network_counts_ends_at on network_counts (ends_at)`;

/** Networks (HMACs) from which an account has proven its password. */
const knownNetworks = `
create table known_networks (
  account_id uuid not null references accounts (id),
  network_hash text not null,
  last_success_at timestamptz(6) not null,
  primary key (account_id, network_hash)
);
create index known_networks_last_success_at on known_networks (last_success_at)`;

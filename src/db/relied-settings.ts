import type { MikroORM } from '@mikro-orm/postgresql';

/**
 * What statements and the parsing of results rely on, whatever database or role have set: dates as the driver reads them, floats
 * to the last digit, and transactions that see what others committed before they got a lock.
 */
const RELIED = {
  DateStyle: 'ISO',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
} as const;

const AS_RELIED: Record<keyof typeof RELIED, (setting: string) => boolean> = {
  DateStyle: (setting) => setting.startsWith('ISO'),
  extra_float_digits: (setting) => Number(setting) > 0,
  standard_conforming_strings: (setting) => setting === 'on',
  default_transaction_isolation: (setting) => setting === 'read committed',
};

const OPTIONS = Object.entries({ ...RELIED, TimeZone: 'UTC' })
  .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
  .join(' ');

/** An address whose sessions start with these settings, after the `options` that it has itself. */
export function withReliedSettings(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  const own = url.searchParams.get('options');
  url.searchParams.set('options', own ? `${own} ${OPTIONS}` : OPTIONS);
  return url.href;
}

/** The sessions of a database behind a pooler have other settings. */
export class ReliedSettingsError extends Error {
  override name = 'ReliedSettingsError';
}

interface Setting {
  name: keyof typeof RELIED;
  setting: string;
  /** `alter role … in database …`, with both names quoted. */
  alter: string;
}

/**
 * Checks the settings of a session. They are wrong only behind a pooler, which shares sessions between clients and refuses or
 * ignores settings of one client.
 * @throws ReliedSettingsError with the statements that correct them
 */
export async function requireReliedSettings(orm: MikroORM): Promise<void> {
  const settings = await orm.em.getConnection().execute<Setting[]>(
    `select name, setting, format('alter role %I in database %I', current_user, current_database()) as alter
     from pg_settings where name = any(string_to_array(?, ','))`,
    [Object.keys(RELIED).join(',')],
  );
  const wrong = settings.filter(({ name, setting }) => !AS_RELIED[name](setting));
  if (wrong.length === 0) return;
  const found = wrong.map(({ name, setting }) => `${name} = ${setting}`).join(', ');
  const remedy = wrong.map(({ name, alter }) => `${alter} set ${name} = '${RELIED[name]}';`).join(' ');
  throw new ReliedSettingsError(
    `sessions behind the pooler have ${found}: run ${remedy} and let the pooler reconnect`,
  );
}

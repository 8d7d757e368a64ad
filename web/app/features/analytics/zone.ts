import { madeOnce } from '../../ui/made-once';

/** The time zone of a chart. */
export type Zone = 'utc' | 'local';

/** The user's time zone. */
export const localZone = madeOnce(() => Intl.DateTimeFormat().resolvedOptions().timeZone);

/** Its name for the API. */
export const zoneOf = (zone: Zone): string => (zone === 'utc' ? 'UTC' : localZone());

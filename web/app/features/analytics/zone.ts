import { madeOnce } from '../../ui/made-once';

/** Whose days a chart has. */
export type Zone = 'utc' | 'local';

/** Of whoever looks at it. */
export const localZone = madeOnce(() => Intl.DateTimeFormat().resolvedOptions().timeZone);

/** Its name for the API. */
export const zoneOf = (zone: Zone): string => (zone === 'utc' ? 'UTC' : localZone());

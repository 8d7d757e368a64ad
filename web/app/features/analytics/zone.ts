/** Whose days a chart has. */
export type Zone = 'utc' | 'local';

/** Of whoever looks at it. */
export const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Its name for the API. */
export const zoneOf = (zone: Zone): string => (zone === 'utc' ? 'UTC' : LOCAL_ZONE);

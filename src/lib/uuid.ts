const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Converts a caller's id to lower case, as in the database; undefined if the text isn't formatted as a UUID. PostgreSQL finds a row by
 * any spelling of its id, but ids are also compared as texts: in keys of the ledger, notifications, the audit log and the associated
 * data of ciphers. Use the result, not the caller's input.
 */
export const uuidOf = (text: string): string | undefined =>
  UUID.test(text) ? text.toLowerCase() : undefined;

/** The texts that are formatted as UUIDs, in lower case. */
export const uuidsOf = (texts: readonly string[]): string[] => texts.flatMap((text) => uuidOf(text) ?? []);

/** Converts an id to lower case; returns any other text unchanged. */
export const idOrText = (text: string): string => uuidOf(text) ?? text;

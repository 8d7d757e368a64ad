const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The id that a caller names, as the database writes it: in lower case. Undefined for a text that isn't formatted as a UUID.
 * PostgreSQL finds a row by any spelling of its id, but ids are also compared as texts: in keys of the ledger, notifications,
 * the audit log and the associated data of ciphers. Go on with the result, not with what the caller sent.
 */
export const uuidOf = (text: string): string | undefined =>
  UUID.test(text) ? text.toLowerCase() : undefined;

/** Those of the texts that are formatted as UUIDs, in lower case. */
export const uuidsOf = (texts: readonly string[]): string[] => texts.flatMap((text) => uuidOf(text) ?? []);

/** An id in lower case; any other text as it is. */
export const idOrText = (text: string): string => uuidOf(text) ?? text;

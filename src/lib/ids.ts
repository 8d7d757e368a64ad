import { uuidv7 } from 'uuidv7';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A new UUIDv7: sortable by the time of its making, unguessable in the rest. */
export const newId = (): string => uuidv7();

/** Whether a text has the form of a UUID, so that it may reach a `uuid` column. */
export const isUuid = (text: string): boolean => UUID.test(text);

/**
 * Raise it with every change of a function (`test/db/functions` checks it). If two builds start on one database, the
 * one with the higher revision decides, whichever starts last.
 */
export const FUNCTIONS_REVISION = 7;

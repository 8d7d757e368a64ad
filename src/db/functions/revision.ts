/**
 * Raise it with every change of a function (`test/db/functions` checks it). If two builds start on one database, the
 * functions of the higher revision stay, whichever build starts last.
 */
export const FUNCTIONS_REVISION = 9;

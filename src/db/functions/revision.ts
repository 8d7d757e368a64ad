/**
 * Raised by every change of a function (`test/db/functions` asks for it). Of two builds that start on one database the one
 * with the higher revision decides, whichever starts last.
 */
export const FUNCTIONS_REVISION = 3;

/**
 * Statuses for a request that is too large for a node, or in a format that the node doesn't accept. They don't mean that the node is
 * faulty, and a retry doesn't help.
 */
const STATUSES = new Set([411, 413, 414, 415, 431]);

export const saysNotTaken = (status: number): boolean => STATUSES.has(status);

/** The router's error code for this, with status 502. */
export const NOT_TAKEN_CODE = 'request_not_taken';

/** Message for the caller. */
export const NOT_TAKEN =
  "The model's server doesn't take a request of this size or form. Send fewer or smaller messages, images or inputs.";

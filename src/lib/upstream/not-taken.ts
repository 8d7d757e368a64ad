/**
 * A request that is too large for a node, or of a form that it doesn't take. This says nothing about the node, and sending the
 * request again doesn't help.
 */
const STATUSES = new Set([411, 413, 414, 415, 431]);

/** Whether a node's status says so. */
export const saysNotTaken = (status: number): boolean => STATUSES.has(status);

/** The router's error code for this, with status 502. */
export const NOT_TAKEN_CODE = 'request_not_taken';

/** What the caller is told. */
export const NOT_TAKEN =
  "The model's server doesn't take a request of this size or form. Send fewer or smaller messages, images or inputs.";

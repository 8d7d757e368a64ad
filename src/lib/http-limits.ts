/** Bytes of headers that a request may have. */
export const MAX_HEADER_BYTES = 64 * 1024;

/** A name of 253 characters, brackets or a dot, and a port. */
export const MAX_HOST_BYTES = 261;

/** What the edge adds of its own, the host once more among it: what it takes the platform must not refuse. */
export const FORWARDED_HEADER_BYTES = 1024;

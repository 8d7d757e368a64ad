/** Most bytes of headers in a request. */
export const MAX_HEADER_BYTES = 64 * 1024;

/** A name of 253 characters, brackets or a dot, and a port. */
export const MAX_HOST_BYTES = 261;

/** Bytes of headers that the edge adds, including a second host: the platform must accept what the edge accepts. */
export const FORWARDED_HEADER_BYTES = 1024;

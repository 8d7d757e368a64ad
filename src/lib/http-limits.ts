/** Bytes of headers that a request may have, the same on every listener: what one takes the next must not refuse. */
export const MAX_HEADER_BYTES = 64 * 1024;

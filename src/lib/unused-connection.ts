import type { Socket } from 'node:net';

/**
 * Whether a connection ran into a time limit before its client had sent anything. Clients open connections in advance, and
 * one that sends its first request just then would take a refusal for the answer: such a connection is closed silently.
 */
export const isUnused = ({ code }: NodeJS.ErrnoException, { bytesRead }: Socket): boolean =>
  code === 'ERR_HTTP_REQUEST_TIMEOUT' && bytesRead === 0;

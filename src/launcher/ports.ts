import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 100;

async function listenOnce(host: string, port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, host, done));
  const { port: bound } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return bound;
}

/** A port that nobody listens on at the moment. */
export const freePort = (host = '127.0.0.1'): Promise<number> => listenOnce(host, 0);

/**
 * Waits until a port can be taken: the listener of an earlier, killed run may need a moment to go.
 * Undefined once it is free, else the error code that stands in the way (`EADDRINUSE`, `EACCES`, …).
 */
export async function waitForPort(
  host: string,
  port: number,
  patienceMs: number,
  giveUp?: AbortSignal,
): Promise<string | undefined> {
  for (const end = Date.now() + patienceMs; ; ) {
    try {
      await listenOnce(host, port);
      return undefined;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      if (code !== 'EADDRINUSE' || Date.now() > end || giveUp?.aborted) return code;
    }
    await delay(POLL_MS);
  }
}

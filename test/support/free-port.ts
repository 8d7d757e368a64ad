import { takeBriefly } from '../../src/lib/free-port.js';

/** Below the ephemeral ports, which other connections may take at any time. */
const FIRST = 10_240;
const COUNT = 22_000;
/** More ports than one worker uses in a run; workers are started one after the other. */
const PER_PROCESS = 64;

let next = (process.pid * PER_PROCESS) % COUNT;

/**
 * A port that nobody listens on, and that no other call returns for a long time: it is still free when a process that was
 * killed listens on it again.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; ; tries++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    // Another process may listen there.
    try {
      return await takeBriefly(host, port);
    } catch (error) {
      if (tries > COUNT) throw error;
    }
  }
}

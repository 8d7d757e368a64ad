import { createServer } from 'node:net';

/**
 * Listens on a port, 0 for any, and closes it again.
 * @returns The port.
 * @throws the system's error if the port can't be taken
 */
export async function takeBriefly(host: string, port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, host, done));
  const { port: bound } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return bound;
}

/** A port that is free at the moment. Another program may take it before the caller does. */
export const freePort = (host = '127.0.0.1'): Promise<number> => takeBriefly(host, 0);

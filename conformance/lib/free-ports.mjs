import { createServer } from 'node:net';

const SIDE_BY_SIDE = 5;

const isFree = (port) =>
  new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** The public port, and the first of those for metrics, which lie side by side. */
export async function freePorts() {
  for (let tries = 0; tries < 100; tries++) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const ports = Array.from({ length: SIDE_BY_SIDE + 1 }, (_, index) => first + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return { port: first, metrics: first + 1 };
  }
  throw new Error('no six free ports side by side');
}

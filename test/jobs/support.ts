import { Writable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import { pino } from 'pino';
import type { ServiceContext } from '../../src/context.js';
import { systemClock } from '../../src/lib/clock.js';

/** A context as a job gets it, whose log lines are kept. */
export function jobContext(
  orm: { em: Pick<EntityManager, 'fork'> },
  nowMs?: number,
): { context: ServiceContext; logged: Record<string, unknown>[] } {
  const logged: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const context: ServiceContext = {
    viewer: null,
    em: orm.em.fork(),
    clock: nowMs === undefined ? systemClock : { now: () => nowMs },
    log: pino({ level: 'info' }, sink),
    network: 'jobs',
    networks: ['jobs'],
    loopback: true,
  };
  return { context, logged };
}

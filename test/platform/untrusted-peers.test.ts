import { pino } from 'pino';
import { systemClock } from '../../src/lib/clock.js';
import { createRegistry } from '../../src/lib/metrics.js';
import { createPlatform } from '../../src/platform/app.js';
import { createSignalBoard } from '../../src/services/live/signals.js';
import { usePlatform } from '../support/platform-suite.js';

describe('an edge on another machine that TRUST_PROXY does not list', () => {
  const suite = usePlatform();

  test('is warned about once, and no other peer is', async () => {
    const lines: unknown[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const { app, close } = await createPlatform({
      config: { ...suite.platform.config, trustProxy: ['192.0.2.1'] },
      services: suite.platform.services,
      orm: suite.db.orm,
      clock: systemClock,
      log,
      registry: createRegistry('test'),
      signals: createSignalBoard(),
      ready: async () => true,
    });
    const forwarded = { 'x-forwarded-for': '203.0.113.9' };
    const ask = (remoteAddress: string, headers = {}) =>
      app.inject({ url: '/health', remoteAddress, headers });
    try {
      await ask('127.0.0.1', forwarded);
      await ask('192.0.2.1', forwarded);
      await ask('192.0.2.2');
      expect(lines).toEqual([]);
      await ask('192.0.2.2', forwarded);
      await ask('192.0.2.3', forwarded);
      expect(lines).toEqual([
        expect.objectContaining({ level: 40, msg: expect.stringMatching(/x-forwarded-for.*TRUST_PROXY/) }),
      ]);
    } finally {
      await close();
    }
  });
});

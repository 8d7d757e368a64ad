import { Writable } from 'node:stream';
import { pino } from 'pino';
import { createOutageLog } from '../../src/lib/outage-log.js';
import { until } from '../support/until.js';

test('an outage is logged by one line at its start and one at its end; other errors are logged each time', async () => {
  const lines: { msg: string; errors?: number }[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const outages = createOutageLog(pino(sink), 'the scheduler', 50);
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  for (let round = 0; round < 2; round++) {
    lines.length = 0;
    for (let i = 0; i < 5; i++) outages.failed(refused);
    outages.failed(new TypeError('a bug'));
    outages.failed(new TypeError('a bug'));
    await until(() => lines.length === 4);
    expect(lines.map(({ msg, errors }) => [msg, errors])).toEqual([
      ['the scheduler is waiting for the database', undefined],
      ['the scheduler failed', undefined],
      ['the scheduler failed', undefined],
      ['the scheduler resumes: the database is back', 5],
    ]);
  }
  outages.close();
});

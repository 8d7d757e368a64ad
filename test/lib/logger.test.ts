import { createLogger } from '../../src/lib/logger.js';

/** The line that the logger writes for an error. */
function logged(err: unknown): string {
  const log = createLogger('test', 'trace');
  const lines: string[] = [];
  const stream = Reflect.get(
    log,
    Object.getOwnPropertySymbols(log).find((symbol) => symbol.description === 'pino.stream')!,
  );
  const write = stream.write.bind(stream);
  stream.write = (line: string) => lines.push(line);
  try {
    log.error({ err }, 'it failed');
  } finally {
    stream.write = write;
  }
  return lines.join('');
}

describe('an error in the log', () => {
  test.each([
    [
      'a value that PostgreSQL could not read',
      Object.assign(new Error('invalid input syntax for type uuid: "canary"'), { code: '22P02' }),
    ],
    [
      'a text that is not JSON',
      (() => {
        try {
          return JSON.parse('{"password":"canary') as unknown;
        } catch (error) {
          return error;
        }
      })(),
    ],
    [
      'a row',
      Object.assign(new Error('duplicate key'), {
        code: '23505',
        detail: 'Key (email)=(canary) already exists.',
        where: 'canary',
      }),
    ],
    [
      'a query',
      Object.assign(new Error('it failed'), {
        query: 'select canary',
        parameters: ['canary'],
        sql: 'canary',
      }),
    ],
    ['its cause', new Error('it failed', { cause: new Error('canary') })],
    [
      'the invalid URL',
      (() => {
        try {
          return new URL('postgres://user:canary@:x');
        } catch (error) {
          return error;
        }
      })(),
    ],
  ])('leaves out %s', (_what, error) => {
    const line = logged(error);
    expect(line).toContain('it failed');
    expect(line).not.toContain('canary');
  });

  test('has its name, message and code', () => {
    const line = logged(
      Object.assign(new TypeError('relation "accounts" does not exist'), { code: '42P01' }),
    );
    expect(JSON.parse(line)).toMatchObject({
      err: { name: 'TypeError', message: 'relation "accounts" does not exist', code: '42P01' },
    });
  });
});

import { type Logger, type LoggerOptions, pino } from 'pino';
import { LogOutput } from './log-output.js';

export type { Logger };

const output = new LogOutput(1);
process.on('exit', () => output.flushSync());

/** Structured logs. Errors are reduced to name, message, code and stack, without queries, DSNs and bodies. */
export function createLogger(name: string, level: string): Logger {
  const options: LoggerOptions = {
    name,
    level,
    base: { process: name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: [
        'authorization',
        'cookie',
        'password',
        '*.authorization',
        '*.cookie',
        '*.password',
        'req.headers',
        'res.headers',
      ],
      remove: true,
    },
    serializers: { err: flattenError, error: flattenError, req: () => undefined, res: () => undefined },
  };
  return pino(options, output);
}

/** Keeps only what can't contain a row, a prompt or an address of a node. */
function flattenError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = (error as { code?: unknown }).code;
  return {
    name: error.name,
    message: withoutValues(error.name, error.message, code).slice(0, 500),
    code,
    stack: error.stack?.split('\n').slice(1, 8).join('\n'),
  };
}

/** SQLSTATE class 22, data exceptions: PostgreSQL quotes the value after a colon. */
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/;

/** The message without the value that could not be read, which may be a name or a prompt. */
function withoutValues(name: string, message: string, code: unknown): string {
  if (typeof code === 'string' && DATA_EXCEPTION.test(code)) return message.split(':', 1)[0]!;
  // JSON.parse quotes a piece of the text.
  if (name === 'SyntaxError') return message.split(/["'`]/, 1)[0]!;
  return message;
}

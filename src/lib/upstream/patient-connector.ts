import { buildConnector } from 'undici';

/** Errors before a byte of a request was sent. */
export const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const TIMED_OUT = 'UND_ERR_CONNECT_TIMEOUT';
/** Doubles twice: all requests of a server that starts again wait at once. */
const PAUSE_MS = 100;
/** A machine that is gone doesn't answer. If there are others, they get their turn. */
const TURN_MS = 2_000;

export type PatientConnectorOptions = buildConnector.BuildOptions & {
  /** Servers to connect to in turns, with the same protocol. Their paths are ignored. */
  addresses: readonly URL[];
  /** How long to try again while all of them refuse, in milliseconds. */
  patienceMs: number;
};

/**
 * Connects to one of several servers of the same kind. Takes the next one if a server can't be reached, and goes on for `patienceMs`, since
 * nothing has been sent: a server that restarts loses no request.
 */
export function patientConnector(options: PatientConnectorOptions): buildConnector.connector {
  const { addresses, patienceMs, ...rest } = options;
  const count = addresses.length;
  const connect = buildConnector(
    count === 1 ? rest : { ...rest, timeout: Math.min(rest.timeout ?? TURN_MS, TURN_MS) },
  );
  const isUnreached = (error: Error): boolean => {
    const code = String((error as NodeJS.ErrnoException).code);
    return UNREACHED.has(code) || (count > 1 && code === TIMED_OUT);
  };
  let turn = 0;
  return (target, callback) => {
    const first = turn++;
    const until = performance.now() + patienceMs;
    let tries = 0;
    const tryNext = (): void => {
      const { hostname, host, port } = addresses[(first + tries) % count]!;
      tries++;
      // Node.js takes IPv6 addresses without brackets. Without a name, TLS uses the host's.
      const server = { hostname: hostname.replace(/^\[|\]$/g, ''), host, port, servername: undefined };
      connect({ ...target, ...server }, (...result) => {
        const [error] = result;
        const isRoundOver = tries % count === 0;
        if (!error || !isUnreached(error) || (isRoundOver && performance.now() >= until)) callback(...result);
        else if (isRoundOver) setTimeout(tryNext, PAUSE_MS * 2 ** Math.min(tries / count - 1, 2));
        else tryNext();
      });
    };
    tryNext();
  };
}

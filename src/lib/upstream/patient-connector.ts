import { buildConnector } from 'undici';

/** No byte of a request was sent. */
const UNREACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const PAUSE_MS = 100;

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
  const connect = buildConnector(rest);
  let turn = 0;
  return (target, callback) => {
    const until = performance.now() + patienceMs;
    let tries = 0;
    const tryNext = (): void => {
      const { hostname, host, port } = addresses[turn++ % addresses.length]!;
      tries++;
      // Without a name, TLS uses the host's.
      connect({ ...target, hostname, host, port, servername: undefined }, (...result) => {
        const [error] = result;
        if (
          !error ||
          !UNREACHED.has(String((error as NodeJS.ErrnoException).code)) ||
          performance.now() >= until
        )
          callback(...result);
        else if (tries % addresses.length === 0) setTimeout(tryNext, PAUSE_MS);
        else tryNext();
      });
    };
    tryNext();
  };
}

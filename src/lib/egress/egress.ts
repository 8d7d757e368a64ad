import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { plainAddress } from './addresses.js';
import { checkAddresses, hostOf, NOT_PUBLIC, parseDestination, RefusedDestination } from './destination.js';
import { publicResolver, type Resolve, resolveLocal } from './resolve.js';

/** The only client for URLs that customers enter (docs/decisions/0063-calls-to-addresses-of-customers.md). */
export interface Egress {
  /**
   * The fault of a destination, for a 422 when it is saved; null if there is no fault. A name that can't be resolved at the moment
   * passes, since each delivery is checked again.
   */
  checkDestination(url: string): Promise<string | null>;
  /**
   * Checks a destination and opens a dispatcher that connects only to the checked addresses, whatever DNS returns later. The caller
   * destroys the dispatcher after one request.
   * @throws RefusedDestination, or what the resolver throws.
   */
  open(url: string): Promise<{ url: URL; dispatcher: Agent }>;
}

export interface EgressOptions {
  /** Allows loopback and private networks (`WEBHOOK_ALLOW_PRIVATE`), but never link-local addresses. */
  allowPrivate: boolean;
  resolve?: Resolve;
}

export function createEgress(options: EgressOptions): Egress {
  const resolve = options.resolve ?? (options.allowPrivate ? resolveLocal : publicResolver());
  return {
    async checkDestination(text) {
      try {
        const host = hostOf(parseDestination(text, options));
        if (!isIP(host)) checkAddresses(await resolve(host).catch(() => []), options);
        return null;
      } catch (error) {
        if (error instanceof RefusedDestination) return error.reason;
        throw error;
      }
    },
    async open(text) {
      const url = parseDestination(text, options);
      const host = hostOf(url);
      const addresses = isIP(host) ? [host] : await resolve(host);
      if (addresses.length === 0) throw new Error('the hostname has no address');
      checkAddresses(addresses, options);
      return { url, dispatcher: pinnedAgent(addresses) };
    },
  };
}

/** Answers every look-up with the checked addresses. */
const pinnedLookup =
  (addresses: readonly string[]): LookupFunction =>
  (_name, options, done) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }));
    if (options.all) done(null, all);
    else done(null, all[0]!.address, all[0]!.family);
  };

/** A fresh dispatcher: it shares no connection, TLS session or address with another delivery. */
function pinnedAgent(addresses: readonly string[]): Agent {
  const checked = new Set(addresses.map(plainAddress));
  const connect = buildConnector({
    lookup: pinnedLookup(addresses),
    autoSelectFamily: true,
    allowH2: false,
    maxCachedSessions: 0,
  });
  return new Agent({
    connections: 1,
    pipelining: 0,
    connect: (target, done) =>
      connect(target, (error, socket) => {
        if (error) return done(error, null);
        // Checked again before the first byte is sent: an address in the URL itself is never looked up.
        if (!isChecked(socket, checked)) {
          socket.destroy();
          return done(new RefusedDestination(NOT_PUBLIC), null);
        }
        done(null, socket);
      }),
  });
}

function isChecked({ remoteAddress }: Socket, checked: ReadonlySet<string | undefined>): boolean {
  return remoteAddress !== undefined && checked.has(plainAddress(remoteAddress));
}

import { lookup, Resolver } from 'node:dns/promises';

/** All addresses of a name; empty for an alias whose target has none. Rejects if the name doesn't exist or no server answers. */
export type Resolve = (name: string) => Promise<string[]>;

const TRY_MS = 1_000;
const TRIES = 2;
/** For all tries at all name servers together. */
const TOTAL_MS = 3_000;

/**
 * Queries the name servers directly, for both address families. Unlike the system's resolver, this occupies none of the process's
 * four threads, so that slow name servers of one customer don't delay others. It doesn't read the hosts file, which has no public
 * names.
 * @param servers Instead of the machine's name servers.
 */
export function publicResolver(servers?: readonly string[]): Resolve {
  return async (name) => {
    // A new resolver each time has no cache.
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const limit = setTimeout(() => resolver.cancel(), TOTAL_MS);
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    clearTimeout(limit);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const failure = answers.find((answer) => answer.status === 'rejected');
    if (failure) throw failure.reason;
    // DNS answers an alias whose target has no address without an error.
    return [];
  };
}

/** Resolves like the machine itself, with its hosts file: for development, where receivers are local. */
export const resolveLocal: Resolve = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

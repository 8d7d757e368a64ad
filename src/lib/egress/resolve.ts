import { lookup, Resolver } from 'node:dns/promises';

/** All addresses of a name; none of an alias whose target has none. Rejects when the name doesn't exist or nobody answers. */
export type Resolve = (name: string) => Promise<string[]>;

const TRY_MS = 1_000;
const TRIES = 2;
/** However many name servers there are. */
const TOTAL_MS = 3_000;

/**
 * Asks the name servers directly, both families. Unlike the system's resolver this takes no thread, of which a process
 * has four: a customer whose name servers are slow makes nobody else wait. It reads no hosts file either, in which
 * nothing public stands. `servers`: instead of those of the machine.
 */
export function publicResolver(servers?: readonly string[]): Resolve {
  return async (name) => {
    // A new one each time remembers nothing.
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const limit = setTimeout(() => resolver.cancel(), TOTAL_MS);
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    clearTimeout(limit);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const failure = answers.find((answer) => answer.status === 'rejected');
    if (failure) throw failure.reason;
    // An alias whose target has no address is answered without an error.
    return [];
  };
}

/** As the machine itself resolves names, with its hosts file: for development, where receivers are local. */
export const resolveLocal: Resolve = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

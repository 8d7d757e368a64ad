import { lookup, Resolver } from 'node:dns/promises';

/** All addresses of a name. Rejects when there are none or nobody answers. */
export type Resolve = (name: string) => Promise<string[]>;

const TIMEOUT_MS = 1_000;
const TRIES = 2;

/**
 * Asks the name servers directly, both families. Unlike the system's resolver this takes no thread, of which a process
 * has four: a customer whose name servers are slow makes nobody else wait. It reads no hosts file either, in which
 * nothing public stands.
 */
export const resolvePublic: Resolve = async (name) => {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  throw (answers[0] as PromiseRejectedResult).reason;
};

/** As the machine itself resolves names, with its hosts file: for development, where receivers are local. */
export const resolveLocal: Resolve = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

import type { Config } from '../../config.js';
import type { ServiceContext } from '../../context.js';

/** Test suites and scripts of developers sign up hundreds of accounts from their own machine. */
export const isExempt = ({ loopback }: ServiceContext, { production }: Pick<Config, 'production'>): boolean =>
  loopback && !production;

/**
 * The networks by which accounts and sign-ups are counted, narrowest first: IPv4 /24, or IPv6 /64, /56 and /48.
 * Single IPv4 addresses aren't counted.
 */
export const accountNetworks = ({ network, networks }: ServiceContext): string[] =>
  networks.slice(networks.indexOf(network));

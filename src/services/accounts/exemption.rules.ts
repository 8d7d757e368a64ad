import type { Config } from '../../config.js';
import type { ServiceContext } from '../../context.js';

/** Suites and scripts of a developer sign up hundreds from their own machine. */
export const isExempt = ({ loopback }: ServiceContext, { production }: Pick<Config, 'production'>): boolean =>
  loopback && !production;

/**
 * The networks that accounts and sign-ups count in, the narrowest first: IPv4 /24, or IPv6 /64, /56 and /48. One IPv4
 * address doesn't count by itself there.
 */
export const accountNetworks = ({ network, networks }: ServiceContext): string[] =>
  networks.slice(networks.indexOf(network));

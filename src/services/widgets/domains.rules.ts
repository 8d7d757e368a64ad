const WILDCARD = '*.';
const LONGEST = 253;
/** Labels of letters, digits and hyphens; or an IPv6 address in brackets. */
const HOST =
  /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?$|^\[[0-9a-f:.]+\]$/;
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * The host name in a user's entry for a site: without scheme, port and path, other scripts in ASCII as browsers send
 * them. `*.example.com` stays a wildcard. Undefined without a host name.
 */
export function domainOf(entered: string): string | undefined {
  const authority = entered.trim().replace(SCHEME, '').split(/[/?#]/, 1)[0]!;
  const isWildcard = authority.startsWith(WILDCARD);
  const host = hostOf(isWildcard ? authority.slice(WILDCARD.length) : authority);
  if (host === undefined) return undefined;
  return isWildcard ? WILDCARD + host : host;
}

/** The host in a browser's spelling; undefined for an invalid one. */
function hostOf(authority: string): string | undefined {
  // Entries with a user name and password aren't sites.
  if (authority === '' || authority.includes('@')) return undefined;
  try {
    const { hostname } = new URL(`http://${authority}`);
    return hostname.length <= LONGEST && HOST.test(hostname) ? hostname : undefined;
  } catch {
    return undefined;
  }
}

/** The host name of an `Origin` header; undefined for `null` and invalid origins. */
export function siteOf(origin: string | undefined): string | undefined {
  if (origin === undefined || !SCHEME.test(origin)) return undefined;
  try {
    return new URL(origin).hostname || undefined;
  } catch {
    return undefined;
  }
}

/** Whether a site is in an allow-list. An empty list allows any site, also a request without one. */
export function allowsSite(domains: readonly string[], site: string | undefined): boolean {
  if (domains.length === 0) return true;
  if (site === undefined) return false;
  return domains.some((domain) =>
    domain.startsWith(WILDCARD)
      ? site.endsWith(domain.slice(1)) && site !== domain.slice(2)
      : site === domain,
  );
}

const WILDCARD = '*.';
const LONGEST = 253;
/** Labels of letters, digits and hyphens; an IPv6 address in its brackets. */
const HOST =
  /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?$|^\[[0-9a-f:.]+\]$/;
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * The host name of what somebody enters for a site: scheme, port and path go, names in other scripts become ASCII as
 * browsers send them. `*.example.com` stays a wildcard. Undefined if there is no host name in it.
 */
export function domainOf(entered: string): string | undefined {
  const authority = entered.trim().replace(SCHEME, '').split(/[/?#]/, 1)[0]!;
  const isWildcard = authority.startsWith(WILDCARD);
  const host = hostOf(isWildcard ? authority.slice(WILDCARD.length) : authority);
  if (host === undefined) return undefined;
  return isWildcard ? WILDCARD + host : host;
}

/** As a browser writes it; undefined for what is none. */
function hostOf(authority: string): string | undefined {
  // A name and password before the host are nobody's site.
  if (authority === '' || authority.includes('@')) return undefined;
  try {
    const { hostname } = new URL(`http://${authority}`);
    return hostname.length <= LONGEST && HOST.test(hostname) ? hostname : undefined;
  } catch {
    return undefined;
  }
}

/** The host name of an `Origin` header; undefined for `null` and for what is no origin. */
export function siteOf(origin: string | undefined): string | undefined {
  if (origin === undefined || !SCHEME.test(origin)) return undefined;
  try {
    return new URL(origin).hostname || undefined;
  } catch {
    return undefined;
  }
}

/** Whether a site is in an allow-list. An empty list allows any, also a request that names none. */
export function allowsSite(domains: readonly string[], site: string | undefined): boolean {
  if (domains.length === 0) return true;
  if (site === undefined) return false;
  return domains.some((domain) =>
    domain.startsWith(WILDCARD)
      ? site.endsWith(domain.slice(1)) && site !== domain.slice(2)
      : site === domain,
  );
}

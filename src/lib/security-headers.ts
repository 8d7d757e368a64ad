/** Kinds of answers to browsers. Each has its own security headers. */
export type HeaderClass = 'api' | 'page' | 'spa' | 'frame' | 'asset';

export interface SecurityHeaderOptions {
  /** Whether the public URL is https. */
  https: boolean;
}

const SHARED: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'strict-origin-when-cross-origin',
};

const CLOSED = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const OWN_ONLY =
  "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'";

const CLASSES: Readonly<Record<HeaderClass, Readonly<Record<string, string>>>> = {
  // JSON must not run scripts, be framed or stay in a shared cache.
  api: {
    'content-security-policy': CLOSED,
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
  },
  page: {
    'content-security-policy': `${OWN_ONLY}; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  },
  spa: {
    'content-security-policy': `${OWN_ONLY}; connect-src 'self'; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-cache',
  },
  // The widget's chat is framed by pages of customers.
  frame: { 'content-security-policy': `${OWN_ONLY}; connect-src 'self'; frame-ancestors *` },
  asset: { 'content-security-policy': CLOSED, 'cross-origin-resource-policy': 'cross-origin' },
};

const HSTS = 'max-age=31536000; includeSubDomains';

/** The headers of a class, with lower-case names. A handler may replace single headers for its route. */
export function securityHeaders(
  headerClass: HeaderClass,
  options: SecurityHeaderOptions,
): Record<string, string> {
  const headers = { ...SHARED, ...CLASSES[headerClass] };
  return options.https ? { ...headers, 'strict-transport-security': HSTS } : headers;
}

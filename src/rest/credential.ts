import { SESSION_COOKIE } from './session-cookie.js';

const BEARER = /^Bearer +(\S+)$/i;

export interface RequestCredential {
  token: string;
  from: 'bearer' | 'cookie';
}

/** The credential of a caller. A bearer wins over the cookie, also when it is worthless. */
export function credentialOf(
  authorization: string | undefined,
  cookies: Readonly<Record<string, string | undefined>>,
): RequestCredential | undefined {
  if (authorization !== undefined && /^Bearer(?: |$)/i.test(authorization)) {
    return { token: BEARER.exec(authorization)?.[1] ?? '', from: 'bearer' };
  }
  const cookie = cookies[SESSION_COOKIE];
  return cookie === undefined ? undefined : { token: cookie, from: 'cookie' };
}

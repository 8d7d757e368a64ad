import { SESSION_COOKIE } from './session-cookie.js';

const BEARER = /^Bearer +(\S+)$/i;

export interface RequestCredential {
  token: string;
  from: 'bearer' | 'cookie';
}

/** The credential of a request. A bearer takes precedence over the cookie, even if it is invalid. */
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

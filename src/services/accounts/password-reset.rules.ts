import { randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../../lib/clock.js';
import { sha256 } from '../../lib/crypto.js';
import { escaped } from '../../lib/html.js';

const LINK_MINUTES = 30;
export const LINK_MS = LINK_MINUTES * MINUTE_MS;

/**
 * Links sent to one address while the first of them is valid, so that one of them always works. Further requests get
 * the same response but send nothing. All spellings of a mailbox with a tag or with ignored dots count as one
 * address, except the address of the mailbox's oldest account.
 */
export const LINKS_PER_ADDRESS = { most: 3, windowMs: LINK_MS };
/** Links that one network may request: IPv4 address and /24, or IPv6 /64, /56 and /48. */
export const LINKS_PER_NETWORK = { most: [20, 40, 80], windowMs: 60 * MINUTE_MS };

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** A new random token and the hash that is stored. */
export function newResetToken(): { token: string; tokenHash: string } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, tokenHash: sha256(token).toString('hex') };
}

/** The stored hash of a token; undefined when the token is malformed. */
export const resetTokenHash = (token: string): string | undefined =>
  TOKEN.test(token) ? sha256(token).toString('hex') : undefined;

/** The page where a token is used. The fragment after `#` appears in no request and no log. */
export const resetUrl = (baseUrl: string, token: string): string => `${baseUrl}/reset-password#${token}`;

/** The email that contains the reset link. It contains nothing that a stranger could have chosen. */
export function passwordResetEmail(url: string): { subject: string; text: string; html: string } {
  const subject = 'Set a new password';
  const paragraphs = [
    'Someone requested a new password for the account with this email address. If it was you, open this link:',
    `The link works once, for ${LINK_MINUTES} minutes. Using it ends all sessions of the account.`,
    "If it wasn't you, ignore this email. Your password stays unchanged.",
  ] as const;
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${subject}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1b1f24;background:#fff">
<p>${paragraphs[0]}</p>
<p><a href="${escaped(url)}" style="color:#0b57d0">${subject}</a></p>
<p>${paragraphs[1]}</p>
<p>${paragraphs[2]}</p>
</body>
</html>
`;
  return { subject, text: `${[paragraphs[0], url, paragraphs[1], paragraphs[2]].join('\n\n')}\n`, html };
}

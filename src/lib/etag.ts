import { createHash } from 'node:crypto';

/** Enough of a hash to tell contents apart. */
const HASH_CHARACTERS = 27;

/** Weak entity tag of a content: the same for every encoding that it is sent in. */
export const weakEtag = (content: string): string =>
  `W/"${createHash('sha256').update(content).digest('base64url').slice(0, HASH_CHARACTERS)}"`;

/** Whether an `If-None-Match` names the entity tag, so that 304 says enough. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim()) ?? [];
  return known.includes(etag) || known.includes('*');
}

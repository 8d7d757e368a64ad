import { createHash } from 'node:crypto';

/** Enough of a hash to distinguish contents. */
const HASH_CHARACTERS = 27;

/** Weak entity tag of a content, the same for every encoding. */
export const weakEtag = (content: string): string =>
  `W/"${createHash('sha256').update(content).digest('base64url').slice(0, HASH_CHARACTERS)}"`;

/** Whether an `If-None-Match` header names the entity tag, so that the answer is 304. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim()) ?? [];
  return known.includes(etag) || known.includes('*');
}

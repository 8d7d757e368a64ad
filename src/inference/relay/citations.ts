import { parseDestination, RefusedDestination } from '../../lib/egress/destination.js';

/** Members of a citation or search result, in Perplexity's form. */
const MEMBERS = new Set(['url', 'title', 'date', 'last_updated', 'snippet', 'source', 'id', 'index']);
/** More are the upstream's mistake. */
const MOST_BYTES = 256 * 1024;

/**
 * Whether the value between two offsets is a list of sources on the public internet: addresses, or objects with a
 * `url`. A model behind a search of the operator's own would cite its internal pages.
 */
export function isPublicSources(json: Buffer, from: number, end: number): boolean {
  if (end - from > MOST_BYTES) return false;
  try {
    const sources: unknown = JSON.parse(json.toString('utf8', from, end));
    return sources === null || (Array.isArray(sources) && sources.every(isPublicSource));
  } catch {
    return false;
  }
}

function isPublicSource(source: unknown): boolean {
  if (typeof source === 'string') return isPublicUrl(source);
  if (typeof source !== 'object' || source === null) return false;
  const { url, ...others } = source as Record<string, unknown>;
  const isPlain = ([name, value]: [string, unknown]): boolean =>
    MEMBERS.has(name) && (typeof value !== 'object' || value === null);
  return typeof url === 'string' && isPublicUrl(url) && Object.entries(others).every(isPlain);
}

function isPublicUrl(url: string): boolean {
  try {
    parseDestination(url, { allowPrivate: false });
    return true;
  } catch (error) {
    if (error instanceof RefusedDestination) return false;
    throw error;
  }
}

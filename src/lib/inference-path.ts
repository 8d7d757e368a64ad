import { errorEntry } from '../errors.js';

/** Segments of base URLs that lead to OpenAI-compatible APIs elsewhere. */
const OF_BASES = new Set(['api', 'openai', 'anthropic', 'inference', 'compatible-mode', 'serving', 'router']);
const VERSION = /^v\d\w{0,8}$/;
const ENDPOINTS = new Set([
  'chat/completions',
  'completions',
  'embeddings',
  'models',
  'responses',
  'messages',
]);
const OF_OLLAMA = new Map([
  ['api/chat', 'chat/completions'],
  ['api/generate', 'chat/completions'],
  ['api/embed', 'embeddings'],
  ['api/tags', 'models'],
]);
/** Whatever is before it: Azure names a deployment there, and some set the whole endpoint as the base URL. */
const CHAT = 'chat/completions';

/**
 * The path of `/v1` that a request with a wrong base URL means, such as `/v1/chat/completions` for `/api/v1//chat/completions/`;
 * undefined for any other path.
 * @param url Path and query of the request.
 */
export function meantPath(url: string): string | undefined {
  const segments = url
    .slice(0, MOST_READ)
    .split('?', 1)[0]!
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => segment.toLowerCase());
  if (segments.slice(-2).join('/') === CHAT) return `/v1/${CHAT}`;
  const first = segments.findIndex((segment) => !OF_BASES.has(segment) && !VERSION.test(segment));
  const endpoint = OF_OLLAMA.get(segments.join('/')) ?? (first < 0 ? '' : segments.slice(first).join('/'));
  return ENDPOINTS.has(endpoint) ? `/v1/${endpoint}` : undefined;
}

/** No mistaken path is longer. */
const MOST_READ = 300;

/** What to do about it. */
export const rightBaseUrl = (publicBaseUrl: string, path: string): string =>
  `Set the base URL to ${publicBaseUrl}/v1: the path is then ${path}.`;

/** The message of the 404 outside of `/v1`. */
export const nothingHere = (publicBaseUrl: string, path: string): string =>
  `${errorEntry('not_found').message} The inference API is below /v1. ${rightBaseUrl(publicBaseUrl, path)}`;

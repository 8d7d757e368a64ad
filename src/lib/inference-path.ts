import { errorEntry } from '../errors.js';

/** Segments in base URLs of other OpenAI-compatible APIs. */
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
/** Accepted after any prefix: Azure has a deployment there, and some clients set the whole endpoint as the base URL. */
const CHAT = 'chat/completions';

/**
 * The path below `/v1` that a request with a wrong base URL means, such as `/v1/chat/completions` for `/api/v1//chat/completions/`;
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

/** Mistaken paths are shorter. */
const MOST_READ = 300;

/** The remedy for a wrong base URL. */
export const rightBaseUrl = (publicBaseUrl: string, path: string): string =>
  `Set the base URL to ${publicBaseUrl}/v1: the path is then ${path}.`;

/** Message of the 404 for a wrong base URL. */
export const nothingHere = (publicBaseUrl: string, path: string): string =>
  `${errorEntry('not_found').message} The inference API is below /v1. ${rightBaseUrl(publicBaseUrl, path)}`;

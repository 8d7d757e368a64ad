import { AppError } from '../errors.js';
import type { RequestCredential } from '../rest/credential.js';

/** The documents of the web pages. */
export interface TrustedDocuments {
  /** Id → text. The web build makes both (web/tools/documents.mjs). */
  texts: ReadonlyMap<string, string>;
  /** Whether cookie sessions may only send these documents: true in production, so that developers can send any. */
  binding: boolean;
}

/** The document fields of a request, not yet validated. */
export interface DocumentRequest {
  query?: unknown;
  documentId?: unknown;
}

/**
 * The text that will run. In production, a cookie session belongs to one of our pages, which only sends documents of
 * its build. It may send nothing else, so that a script injected into a page can't send its own queries. Bearers may
 * send any document within the limits.
 * @throws AppError `unknown_document`, `document_not_trusted`
 */
export function documentText(
  request: DocumentRequest,
  credential: RequestCredential | undefined,
  documents: TrustedDocuments,
): unknown {
  if (request.documentId === undefined || request.documentId === null) {
    if (documents.binding && credential?.from === 'cookie') throw new AppError('document_not_trusted');
    return request.query;
  }
  const text = typeof request.documentId === 'string' ? documents.texts.get(request.documentId) : undefined;
  if (text === undefined) throw new AppError('unknown_document');
  return text;
}

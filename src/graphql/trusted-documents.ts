import { AppError } from '../errors.js';
import type { RequestCredential } from '../rest/credential.js';

/** The documents of the pages. */
export interface TrustedDocuments {
  /** Id → text. The web build makes both (web/tools/documents.mjs). */
  texts: ReadonlyMap<string, string>;
  /** Whether sessions by cookie are bound to them: in production. Elsewhere who develops may ask what they like. */
  binding: boolean;
}

/** The document fields of a request, not yet validated. */
export interface DocumentRequest {
  query?: unknown;
  documentId?: unknown;
}

/**
 * The text that is to run. A session by cookie is, in production, a page of ours, which only ever sends the documents of its build:
 * with the cookie alone nothing else runs, so that a script which found its way into a page can't ask what it likes.
 * A bearer may send what it wants, within the limits.
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

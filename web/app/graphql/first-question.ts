/** Where the document's first script leaves what it has asked. */
const PLACE = '__gatewayFirstQuestion';

interface FirstQuestion {
  documentId: string;
  answer: Promise<Response>;
}

type Place = { [PLACE]?: FirstQuestion };

/** Asks a document of the build that has no variables, while the scripts of the page are still on their way. */
export function askFirst(endpoint: string, documentId: string): void {
  const answer = fetch(endpoint, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ documentId }),
  });
  // Told to whoever takes the answer.
  answer.catch(() => undefined);
  (globalThis as Place)[PLACE] = { documentId, answer };
}

/** `fetch`, which takes the answer to the first question, once, where that is what is asked. */
export function fetchOrTake(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const first = (globalThis as Place)[PLACE];
  if (first && typeof init?.body === 'string' && init.body.includes(first.documentId)) {
    delete (globalThis as Place)[PLACE];
    return first.answer;
  }
  return fetch(input, init);
}

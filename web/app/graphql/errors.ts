import type { CombinedError } from 'urql';
import { ANSWER_LIMIT_SECONDS, isTimeOut } from './time-limit';

/** An error in the form that pages show. */
export interface ShownError {
  /** As in the error table of the API; `network` when there was no answer. */
  code: string;
  message: string;
  /** Field of the form → what is wrong with it. */
  fields: Record<string, string>;
  /** To quote to the operator. */
  requestId: string | null;
}

interface Extensions {
  code?: string;
  details?: { field: string; message: string }[];
}

/** By then the page has been refreshed (`refresh-overtaken.ts`). */
const CHANGED_ELSEWHERE =
  'It was changed elsewhere in the meantime, so nothing was saved. The page shows what it is now.';

const NO_ANSWER = `The server didn’t answer within ${ANSWER_LIMIT_SECONDS} seconds.`;

interface Asked {
  /** The request was a mutation, which the server may have done though its answer didn't come. */
  isChange?: boolean;
}

/** The first error of an answer. The server's message names cause and remedy. */
export function shownError(error: CombinedError, { isChange = false }: Asked = {}): ShownError {
  const [first] = error.graphQLErrors;
  const requestId = (error.response as Response | undefined)?.headers.get('x-request-id') ?? null;
  if (isTimeOut(error.networkError)) {
    const remedy = isChange
      ? 'Your change may have been made all the same: check before you try again.'
      : 'Check your connection and try again.';
    return { code: 'network', message: `${NO_ANSWER} ${remedy}`, fields: {}, requestId };
  }
  if (!first) {
    const status = (error.response as Response | undefined)?.status;
    const message = status
      ? `The server answered with an error (${status}). Try again in a moment.`
      : 'The server can’t be reached. Check your connection and try again.';
    return { code: 'network', message, fields: {}, requestId };
  }
  const { code = 'internal_error', details = [] } = first.extensions as Extensions;
  const message = code === 'changed_meanwhile' ? CHANGED_ELSEWHERE : first.message;
  // A fault of the whole input belongs to no field; it is in the message.
  const ofFields = details.filter(({ field }) => field !== 'input');
  const fields = Object.fromEntries(ofFields.map(({ field, message }) => [field, message]));
  return { code, message, fields, requestId };
}

const says = (error: CombinedError | undefined, code: string): boolean =>
  error?.graphQLErrors.some(({ extensions }) => extensions.code === code) ?? false;

/** Whether an error says that nobody is signed in. */
export const isSignedOut = (error: CombinedError | undefined): boolean => says(error, 'unauthorized');

/** Whether an error says that the cookie names another account than the page: nothing was done. */
export const isOfOther = (error: CombinedError | undefined): boolean => says(error, 'account_changed');

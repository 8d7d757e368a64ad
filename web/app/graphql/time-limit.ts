/** Longer than the server takes for any request of a page. */
export const ANSWER_LIMIT_SECONDS = 30;

const TIMED_OUT = 'TimeoutError';

/**
 * Ends a request that isn't answered in time. Otherwise a page would wait forever for a server that hangs.
 * @param signal ends it before that
 */
export function withinLimit(signal?: AbortSignal | null): AbortSignal {
  const control = new AbortController();
  const end = (): void => control.abort(new DOMException('not answered in time', TIMED_OUT));
  setTimeout(end, ANSWER_LIMIT_SECONDS * 1_000);
  signal?.addEventListener('abort', () => control.abort(signal.reason));
  return control.signal;
}

/** Whether this timeout ended a request. */
export const isTimeOut = (error: Error | undefined): boolean => error?.name === TIMED_OUT;

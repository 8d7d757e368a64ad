import {
  LITELLM_DEPLOYMENT_HEADER,
  readLitellmDeployment,
  readServedBy,
  SERVED_BY_HEADER,
  type ServedBy,
} from './served-by.js';

/** The headers of a response that are read. None of them is passed on. */
export interface ResponseHead {
  status: number;
  contentType: string;
  retryAfter: string | undefined;
  /** Its `x-request-id`, if any. */
  requestId: string | undefined;
  /** Which deployment answered, if the response names it. */
  servedBy: ServedBy | undefined;
}

/** The response violates HTTP, or belongs to another call. */
export class ResponseParseError extends Error {
  readonly code = 'UPSTREAM_GARBAGE';
}

/** Headers as undici returns them: lower-case names, repeated headers as a list. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads the relevant headers of a response. The last value of a repeated header counts.
 * @throws ResponseParseError for a transfer coding other than chunked, which was not requested and is not removed
 */
export function readHead(status: number, headers: ResponseHeaders): ResponseHead {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && !/^chunked$/i.test(String(coding)))
    throw new ResponseParseError('the transfer encoding is not supported');
  const value = (name: string): string | undefined => {
    const given = headers[name];
    return (Array.isArray(given) ? given.at(-1) : given)?.trim();
  };
  return {
    status,
    contentType: value('content-type') ?? '',
    retryAfter: value('retry-after'),
    requestId: value('x-request-id'),
    servedBy:
      readServedBy(value(SERVED_BY_HEADER) ?? '') ??
      readLitellmDeployment(value(LITELLM_DEPLOYMENT_HEADER) ?? ''),
  };
}

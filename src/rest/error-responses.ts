import { z } from 'zod';

const errorOutput = z
  .object({
    error: z
      .object({
        message: z.string().describe('What is wrong and what to do about it, for people.'),
        type: z.string().describe('Kind of the error.'),
        param: z.string().nullable().describe('The parameter that is wrong, where there is one.'),
        code: z.string().describe('What is wrong, for programs.'),
        details: z
          .array(
            z.object({
              field: z.string().describe('Path of the field, dots between its parts.'),
              message: z.string().describe('What is wrong with it.'),
            }),
          )
          .optional()
          .describe('Every field that is wrong, with `validation_error`.'),
      })
      .describe('The error.'),
  })
  .meta({ id: 'Error', description: 'An error.' });

const MEANINGS = {
  400: 'The body is no JSON (`invalid_body`), or values that a prompt requires are missing (`missing_variables`).',
  401: 'The session is missing, expired or ended (`unauthorized`), or a password is wrong (`invalid_credentials`).',
  403: 'Not allowed (`forbidden`), or a log-in, a sign-up or a write with the cookie from another site (`cross_site_request`).',
  404: 'There is nothing at this address, or it is not yours (`not_found`).',
  409: 'It clashes with what exists (`email_taken`, `idempotency_conflict`), or with a change that came first (`changed_meanwhile`).',
  413: 'The body is too large (`body_too_large`).',
  415: 'The body is not plain JSON (`unsupported_media_type`).',
  422: 'The input is not valid (`validation_error`); `details` names the fields.',
  429: 'Too many requests, or tries to log in (`rate_limit_exceeded`); wait for `Retry-After` seconds.',
  503: 'The service can not answer at the moment (`service_unavailable`).',
} as const;

type ErrorStatus = keyof typeof MEANINGS;

/** Whatever is asked, a caller may ask too much, and the database may be away. */
const ALWAYS: readonly ErrorStatus[] = [429, 503];
/** Beside 415, which is for everything but GET: where a body may be of the wrong type it may be bad or huge too. */
const OF_BODIES: readonly ErrorStatus[] = [400, 413];

const errorResponse = (description: string) => ({
  description,
  content: { 'application/json': { schema: errorOutput } },
});

/** Error responses of an operation, for its `response` schema. With 415, those of every body come along. */
export function errorResponses<S extends ErrorStatus>(...statuses: S[]) {
  const takesBody = statuses.some((status) => status === 415);
  const all = [...statuses, ...(takesBody ? OF_BODIES : []), ...ALWAYS];
  const entries = all.map((status) => [status, errorResponse(MEANINGS[status])]);
  return Object.fromEntries(entries) as Record<S, ReturnType<typeof errorResponse>>;
}

/** An answer without a body, for 204. */
export const nothing = (description: string) => z.void().describe(description);

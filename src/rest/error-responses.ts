import { z } from 'zod';

const errorOutput = z
  .object({
    error: z
      .object({
        message: z.string().describe('Human-readable description of the error and how to fix it.'),
        type: z.string().describe('Error type.'),
        param: z.string().nullable().describe('The invalid parameter, if any.'),
        code: z.string().describe('Machine-readable error code.'),
        details: z
          .array(
            z.object({
              field: z.string().describe('Path of the field, separated by dots.'),
              message: z.string().describe('What is wrong with the field.'),
            }),
          )
          .optional()
          .describe('All invalid fields. Only with `validation_error`.'),
      })
      .describe('The error.'),
  })
  .meta({ id: 'Error', description: 'An error.' });

const MEANINGS = {
  400: 'The body is not valid JSON (`invalid_body`), or required variables of a prompt are missing (`missing_variables`).',
  401: 'The session is missing, expired or ended (`unauthorized`), or the password is wrong (`invalid_credentials`).',
  403: 'Not allowed (`forbidden`), or a cross-site login, sign-up or cookie-authenticated write (`cross_site_request`).',
  404: "The resource doesn't exist or belongs to another account (`not_found`).",
  409: 'The request conflicts with an existing resource (`email_taken`, `idempotency_conflict`), or with a later change (`changed_meanwhile`).',
  413: 'The body is too large (`body_too_large`).',
  415: 'The body is not uncompressed JSON (`unsupported_media_type`).',
  422: 'The input is not valid (`validation_error`). `details` lists the invalid fields.',
  429: 'Too many requests or login attempts (`rate_limit_exceeded`). Retry after `Retry-After` seconds.',
  503: 'The service is temporarily unavailable (`service_unavailable`).',
} as const;

export type ErrorStatus = keyof typeof MEANINGS;

/** Any request may exceed a rate limit, or find the database unavailable. */
const ALWAYS: readonly ErrorStatus[] = [429, 503];
/** In addition to 415, which applies to everything but GET: a body of the wrong type may also be invalid or too large. */
const OF_BODIES: readonly ErrorStatus[] = [400, 413];

const errorResponse = (description: string) => ({
  description,
  content: { 'application/json': { schema: errorOutput } },
});

/** Error responses of an operation, for its `response` schema. 415 adds those of every body. */
export function errorResponses<S extends ErrorStatus>(...statuses: S[]) {
  const takesBody = statuses.some((status) => status === 415);
  const all = [...statuses, ...(takesBody ? OF_BODIES : []), ...ALWAYS];
  const entries = all.map((status) => [status, errorResponse(MEANINGS[status])]);
  return Object.fromEntries(entries) as Record<S, ReturnType<typeof errorResponse>>;
}

/** An answer without a body, for 204 and 304. */
export const nothing = (description: string) => z.void().describe(description);

import { z } from 'zod';
import { largerThan } from '../lib/larger-than.js';

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

const meaningsOf = (bodyLimitBytes: number) => ({
  400: 'The body is not valid JSON (`invalid_body`), or required variables of a prompt are missing (`missing_variables`).',
  401: 'The session is missing, expired or ended (`unauthorized`), or the password is wrong (`invalid_credentials`).',
  403: 'Not allowed (`forbidden`), or a cross-site login, sign-up or cookie-authenticated write (`cross_site_request`).',
  404: "The resource doesn't exist or belongs to another account (`not_found`).",
  409: 'The request conflicts with an existing resource (`email_taken`, `idempotency_conflict`), or with a later change (`changed_meanwhile`).',
  413: `${largerThan(bodyLimitBytes).slice(0, -1)} (\`body_too_large\`).`,
  415: 'The body is not uncompressed JSON (`unsupported_media_type`).',
  422: 'The input is not valid (`validation_error`). `details` lists the invalid fields.',
  429: 'Too many requests or login attempts (`rate_limit_exceeded`). Retry after `Retry-After` seconds.',
  503: 'The service is temporarily unavailable (`service_unavailable`).',
});

type Status = keyof ReturnType<typeof meaningsOf>;

/**
 * Errors of single operations, by code: their status, and what the API reference adds to the status's description.
 */
const ADDED = {
  model_not_allowed: {
    status: 403,
    meaning: "Also if your plan doesn't include a model (`model_not_allowed`).",
  },
  upstream_unconfigured: {
    status: 503,
    meaning:
      'Also if the playground has no upstream virtual key for your account yet (`upstream_unconfigured`).',
  },
} as const;

/** A status, or the code of an error that only some operations return. */
export type DeclaredError = Status | keyof typeof ADDED;

/** Any request may exceed a rate limit, or find the database unavailable. */
const ALWAYS: readonly Status[] = [429, 503];
/** In addition to 415, which applies to everything but GET: a body of the wrong type may also be invalid or too large. */
const OF_BODIES: readonly Status[] = [400, 413];

const errorResponse = (description: string) => ({
  description,
  content: { 'application/json': { schema: errorOutput } },
});

/** Error responses of an operation, for its `response` schema. 415 adds those of every body, which has at most `bodyLimitBytes`. */
export function errorResponses(bodyLimitBytes: number, ...declared: DeclaredError[]) {
  const added = declared.filter((error) => typeof error === 'string').map((code) => ADDED[code]);
  const statuses = declared.filter((error) => typeof error === 'number');
  const all = [...statuses, ...(statuses.includes(415) ? OF_BODIES : []), ...ALWAYS];
  const meanings = meaningsOf(bodyLimitBytes);
  const textOf = (status: Status): string =>
    [meanings[status], ...added.filter((one) => one.status === status).map((one) => one.meaning)].join(' ');
  return Object.fromEntries(all.map((status) => [status, errorResponse(textOf(status))]));
}

/** An answer without a body, for 204 and 304. */
export const noContent = (description: string) => z.void().describe(description);

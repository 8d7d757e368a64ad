/**
 * Every error of the product: code → HTTP status, type, default message and whether it is our fault (`log`). Every
 * process answers errors in the shape `{ error: { message, type, param, code, details? } }`.
 */
interface ErrorEntry {
  status: number;
  type: string;
  message: string;
  /** Level at which an occurrence is logged; absent: counted in metrics only. */
  log?: 'warn' | 'error';
}

/** Makes entries that share status, type and log level from codes and messages. */
const entries = <Code extends string>(
  status: number,
  type: string,
  messages: Record<Code, string>,
  log?: ErrorEntry['log'],
): Record<Code, ErrorEntry> =>
  Object.fromEntries(
    Object.entries<string>(messages).map(([code, message]) => [
      code,
      { status, type, message, ...(log && { log }) },
    ]),
  ) as Record<Code, ErrorEntry>;

const table = {
  ...entries(400, 'invalid_request_error', {
    invalid_body: 'The request body is not valid.',
    missing_variables: 'Required variables of the prompt are missing.',
    invalid_request:
      'The model refused the request. Check messages, tools and parameters against what the model supports.',
    unknown_document: 'There is no document with this ID. If the service was just updated, reload the page.',
  }),
  ...entries(401, 'invalid_request_error', {
    invalid_api_key:
      'Missing, malformed, unknown or disabled API key. Send "Authorization: Bearer sk-pr-…" with an active key.',
    unauthorized: 'Log in first: the session is missing, expired or ended.',
    invalid_credentials: 'Email or password is wrong.',
  }),
  ...entries(402, 'insufficient_quota', {
    insufficient_credits: 'The balance is below $0.001. Add credit to continue.',
    daily_cap_exceeded: 'This key has reached its daily limit. It resets at 00:00 UTC.',
    key_guard_reached:
      "This key's guard has stopped its calls: the key has spent the set percentage of its monthly limit. Undo it on the key's page, or wait until next month.",
  }),
  ...entries(403, 'invalid_request_error', {
    forbidden: 'This requires an administrator.',
    cross_site_request: 'Login, sign-up and writes with the session cookie are accepted from this site only.',
    document_not_trusted:
      'The session cookie only runs the dashboard\'s own documents, by documentId. To run others, send the token: "Authorization: Bearer …".',
    topup_disabled: 'Top-ups are turned off in this installation. Ask an administrator for credit.',
    model_not_allowed: "Your plan doesn't include this model.",
    widget_origin_denied:
      "This site is not among the widget's allowed domains. The widget's owner can add it.",
  }),
  ...entries(404, 'invalid_request_error', {
    widget_not_found:
      'There is no widget with this public key. It may have been deleted, or its key rotated.',
    endpoint_not_supported: 'This endpoint is not supported.',
    not_found: 'There is nothing at this address.',
  }),
  ...entries(405, 'invalid_request_error', { method_not_allowed: 'This method is not allowed here.' }),
  ...entries(409, 'invalid_request_error', {
    email_taken: 'An account with this email already exists. Log in instead.',
    idempotency_conflict:
      'This Idempotency-Key was already used with a different body. Use a new key for a new request.',
    changed_meanwhile: 'The object has changed in the meantime. Read it again and repeat the change.',
    account_changed:
      'The session cookie belongs to another account than X-Gateway-Account names: another account has logged in in this browser. Nothing was done. Reload the page.',
  }),
  ...entries(413, 'invalid_request_error', { body_too_large: 'The request body is too large.' }),
  ...entries(415, 'invalid_request_error', {
    unsupported_media_type: 'The body must be JSON, sent without content encoding.',
  }),
  ...entries(422, 'invalid_request_error', { validation_error: 'The input is not valid.' }),
  ...entries(429, 'requests', {
    rate_limit_exceeded: 'Too many requests. Try again later.',
    widget_rate_limit: 'Too many messages in this chat. Try again in a moment.',
    widget_daily_cap_exceeded: 'This chat has reached its daily message limit. It resets at 00:00 UTC.',
    widget_loop_detected:
      'The same messages keep repeating in this chat. Send a different one, or try again in ten minutes.',
    widget_monthly_limit_exceeded:
      'This chat has spent its budget for this month. It resets at 00:00 UTC on the first of next month.',
  }),
  ...entries(431, 'invalid_request_error', {
    headers_too_large: 'The request headers are larger than 64 KiB. Send fewer or shorter ones.',
  }),
  ...entries(
    500,
    'server_error',
    { internal_error: 'Something went wrong on our side. It has been logged.' },
    'error',
  ),
  ...entries(502, 'upstream_error', { upstream_error: 'The model failed to answer. Try again.' }),
  ...entries(
    502,
    'server_error',
    { platform_unavailable: 'This part of the service is restarting. Try again in a moment.' },
    'warn',
  ),
  ...entries(503, 'upstream_error', {
    upstream_unconfigured: 'This key has no upstream virtual key. Delete it and create another.',
  }),
  ...entries(503, 'insufficient_quota', {
    widget_owner_insufficient_balance:
      "The balance of the widget's owner is used up. The owner has to add credit.",
  }),
  ...entries(503, 'upstream_error', {
    upstream_unavailable: 'No deployment of this model is available at the moment. Try again later.',
  }),
  ...entries(
    503,
    'server_error',
    { service_unavailable: 'The service is temporarily unavailable. Try again in a moment.' },
    'warn',
  ),
  ...entries(503, 'server_error', {
    internal_routes_disabled:
      'Internal routes are disabled: GPU_HEARTBEAT_SECRET is not set. Set it on the platform and restart.',
  }),
  ...entries(504, 'upstream_error', {
    upstream_timeout:
      'The model did not answer in time. Try again, stream the answer, or ask for fewer tokens.',
  }),
} satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof table;

export function errorEntry(code: ErrorCode): ErrorEntry {
  return table[code];
}

/** All codes with their entries, for documentation and tests. */
export const errorTable: Readonly<Record<ErrorCode, ErrorEntry>> = table;

export interface FieldIssue {
  /** Path of the field, with dots between its parts. */
  field: string;
  message: string;
}

export interface ErrorOptions {
  message?: string;
  param?: string;
  /** A code of OpenAI's, sent instead of ours. */
  shownCode?: string | undefined;
  /** All faults of the input; always present with `validation_error`. */
  details?: FieldIssue[];
  /** Seconds, sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** The same in milliseconds, if known more exactly; also sent on `/v1`. */
  retryAfterMs?: number;
  /** Never logged, whatever the code: callers can cause it as often as they like. */
  quiet?: boolean;
  cause?: unknown;
}

/** Codes of errors without required details. */
export type PlainErrorCode = Exclude<ErrorCode, 'validation_error'>;

/** An error that callers may see. Its code determines status and type. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly options: ErrorOptions;

  constructor(code: 'validation_error', options: ErrorOptions & { details: FieldIssue[] });
  constructor(code: PlainErrorCode, options?: ErrorOptions);
  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    super(options.message ?? table[code].message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = table[code].status;
    this.options = options;
  }
}

export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string; details?: FieldIssue[] };
}

/** The invalid field, if exactly one is invalid. */
function onlyField(details: readonly FieldIssue[] = []): string | null {
  const [first, ...more] = new Set(details.map(({ field }) => field));
  return first !== undefined && first !== 'body' && more.length === 0 ? first : null;
}

/** The body of an error response. */
export function errorBody(code: ErrorCode, options: ErrorOptions = {}): ErrorBody {
  const body: ErrorBody = {
    error: {
      message: options.message ?? table[code].message,
      type: table[code].type,
      param: options.param ?? onlyField(options.details),
      code: options.shownCode ?? code,
    },
  };
  if (options.details) body.error.details = options.details;
  return body;
}

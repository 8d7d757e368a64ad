/**
 * SPEC section 7 and CONTRACT.md as one table: code → HTTP status, type, default message and whether it is our
 * fault (`log`). Every process answers errors in the shape `{ error: { message, type, param, code, details? } }`.
 */
interface ErrorEntry {
  status: number;
  type: string;
  message: string;
  /** Level at which an occurrence is logged; absent: counted in metrics only. */
  log?: 'warn' | 'error';
}

const table = {
  invalid_body: { status: 400, type: 'invalid_request_error', message: 'The request body is not valid.' },
  missing_variables: {
    status: 400,
    type: 'invalid_request_error',
    message: 'Required variables of the prompt are missing.',
  },
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The model refused the request.',
  },
  unknown_document: {
    status: 400,
    type: 'invalid_request_error',
    message: 'There is no document with this ID. If the service was just updated, reload the page.',
  },
  invalid_api_key: {
    status: 401,
    type: 'invalid_request_error',
    message:
      'Missing, malformed, unknown or disabled API key. Send "Authorization: Bearer sk-pr-…" with an active key.',
  },
  unauthorized: {
    status: 401,
    type: 'invalid_request_error',
    message: 'Sign in first: the session is missing, expired or ended.',
  },
  invalid_credentials: { status: 401, type: 'invalid_request_error', message: 'Email or password is wrong.' },
  insufficient_credits: {
    status: 402,
    type: 'insufficient_quota',
    message: 'The balance is below $0.001. Top up the account to continue.',
  },
  daily_cap_exceeded: {
    status: 402,
    type: 'insufficient_quota',
    message: 'This key has reached its daily limit. It resets at 00:00 UTC.',
  },
  key_guard_reached: {
    status: 402,
    type: 'insufficient_quota',
    message:
      "This key's guard has stopped its calls: the key has spent the set percentage of its monthly limit. Undo it on the key's page, or wait until next month.",
  },
  forbidden: { status: 403, type: 'invalid_request_error', message: 'This requires an administrator.' },
  cross_site_request: {
    status: 403,
    type: 'invalid_request_error',
    message: 'Login, sign-up and writes with the session cookie are accepted from this site only.',
  },
  document_not_trusted: {
    status: 403,
    type: 'invalid_request_error',
    message:
      'The session cookie only runs the dashboard\'s own documents, by documentId. To run others, send the token: "Authorization: Bearer …".',
  },
  model_not_allowed: {
    status: 403,
    type: 'invalid_request_error',
    message: "Your plan doesn't include this model.",
  },
  widget_origin_denied: {
    status: 403,
    type: 'invalid_request_error',
    message: "This site is not among the widget's allowed domains.",
  },
  widget_not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'There is no widget with this public key. It may have been deleted, or its key rotated.',
  },
  endpoint_not_supported: {
    status: 404,
    type: 'invalid_request_error',
    message: 'This endpoint is not supported.',
  },
  not_found: { status: 404, type: 'invalid_request_error', message: 'There is nothing at this address.' },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'This method is not allowed here.',
  },
  email_taken: {
    status: 409,
    type: 'invalid_request_error',
    message: 'An account with this email already exists. Log in instead.',
  },
  idempotency_conflict: {
    status: 409,
    type: 'invalid_request_error',
    message: 'This Idempotency-Key was already used with a different body. Use a new key for a new request.',
  },
  changed_meanwhile: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The object has changed in the meantime. Read it again and repeat the change.',
  },
  body_too_large: { status: 413, type: 'invalid_request_error', message: 'The request body is too large.' },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'The body must be JSON, sent without content encoding.',
  },
  validation_error: { status: 422, type: 'invalid_request_error', message: 'The input is not valid.' },
  rate_limit_exceeded: { status: 429, type: 'requests', message: 'Too many requests. Try again later.' },
  widget_rate_limit: {
    status: 429,
    type: 'requests',
    message: 'Too many messages in this chat. Try again in a moment.',
  },
  widget_daily_cap_exceeded: {
    status: 429,
    type: 'requests',
    message: 'This chat has reached its daily message limit. It resets at 00:00 UTC.',
  },
  widget_loop_detected: {
    status: 429,
    type: 'requests',
    message:
      'The same messages keep repeating in this chat. Send a different one, or try again in ten minutes.',
  },
  widget_monthly_limit_exceeded: {
    status: 429,
    type: 'requests',
    message: 'This chat has spent its budget for this month.',
  },
  headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    message: 'The request headers are too large.',
  },
  internal_error: {
    status: 500,
    type: 'server_error',
    message: 'Something went wrong on our side. It has been logged.',
    log: 'error',
  },
  upstream_error: { status: 502, type: 'upstream_error', message: 'The model failed to answer. Try again.' },
  platform_unavailable: {
    status: 502,
    type: 'server_error',
    message: 'This part of the service is restarting. Try again in a moment.',
    log: 'warn',
  },
  upstream_unconfigured: {
    status: 503,
    type: 'upstream_error',
    message: 'This key has no upstream virtual key. Delete it and create another.',
  },
  widget_owner_insufficient_balance: {
    status: 503,
    type: 'insufficient_quota',
    message: "The balance of the widget's owner is used up.",
  },
  upstream_unavailable: {
    status: 503,
    type: 'upstream_error',
    message: 'No deployment of this model is available at the moment. Try again later.',
  },
  service_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'The service is temporarily unavailable. Try again in a moment.',
    log: 'warn',
  },
  internal_routes_disabled: {
    status: 503,
    type: 'server_error',
    message: 'Internal routes are disabled: GPU_HEARTBEAT_SECRET is not set.',
  },
  upstream_timeout: { status: 504, type: 'upstream_error', message: 'The model did not answer in time.' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof table;

/** The entry of a code. */
export function errorEntry(code: ErrorCode): ErrorEntry {
  return table[code];
}

/** Every code with its entry, for documentation and tests. */
export const errorTable: Readonly<Record<ErrorCode, ErrorEntry>> = table;

export interface FieldIssue {
  /** Path of the field, dots between its parts. */
  field: string;
  message: string;
}

export interface ErrorOptions {
  message?: string;
  param?: string;
  /** Every fault of the input; always there with `validation_error`. */
  details?: FieldIssue[];
  /** Seconds, sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** The same in milliseconds where that is known more exactly; sent beside it on `/v1`. */
  retryAfterMs?: number;
  /** Not logged, whatever its code: callers cause it, as often as they like. */
  quiet?: boolean;
  cause?: unknown;
}

/** Codes whose errors need no details. */
export type PlainErrorCode = Exclude<ErrorCode, 'validation_error'>;

/** An error that a caller may see: its code decides status and type. */
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

/** The body of an error answer. */
export function errorBody(code: ErrorCode, options: ErrorOptions = {}): ErrorBody {
  const body: ErrorBody = {
    error: {
      message: options.message ?? table[code].message,
      type: table[code].type,
      param: options.param ?? null,
      code,
    },
  };
  if (options.details) body.error.details = options.details;
  return body;
}

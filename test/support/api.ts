import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Agent, Headers, request } from 'undici';

export interface ApiAnswer<T = unknown> {
  status: number;
  headers: Headers;
  /** The parsed JSON; null for an empty body. */
  body: T;
  text: string;
}

export interface ApiRequest {
  token?: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Not shared with tests that abort requests, and closed by the client before the server's time limits. */
const dispatcher = new Agent({ keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 });

const DECODE: Record<string, ((bytes: Uint8Array) => Buffer) | undefined> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
};

/** One call of the JSON API over real HTTP. */
export async function call<T = unknown>(
  url: string,
  method: string,
  path: string,
  { token, body, headers = {} }: ApiRequest = {},
): Promise<ApiAnswer<T>> {
  // A third of the cost of `fetch`, and redirects aren't followed.
  const {
    statusCode,
    headers: fields,
    body: content,
  } = await request(`${url}${path}`, {
    dispatcher,
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const decode = DECODE[String(fields['content-encoding'])];
  const text = decode ? decode(await content.bytes()).toString() : await content.text();
  return {
    status: statusCode,
    headers: headersOf(fields),
    body: (text === '' ? null : parse(text)) as T,
    text,
  };
}

function headersOf(fields: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields))
    for (const one of [value ?? []].flat()) headers.append(name, one);
  return headers;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** JSON in pure ASCII, as clients in other languages write it. */
export const escapedJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export interface UserFields {
  id: string;
  email: string;
  name: string;
  role: string;
  status: string;
  created_at: string;
  plan_id: string;
}

export interface SessionAnswer {
  access_token: string;
  token_type: string;
  user: UserFields;
}

export interface ErrorAnswer {
  error: {
    message: string;
    type: string;
    param: string | null;
    code: string;
    details?: { field: string; message: string }[];
  };
}

export const PASSWORD = 'correct horse battery staple';

/** Signs up an account, by default with a new email address. */
export async function signUp(
  url: string,
  input: Partial<{ email: string; password: string; name: string }> = {},
): Promise<{ token: string; user: UserFields }> {
  const answer = await call<SessionAnswer>(url, 'POST', '/api/auth/signup', {
    body: { email: `${randomUUID()}@example.com`, password: PASSWORD, name: 'Ada', ...input },
  });
  if (answer.status !== 200)
    throw new Error(
      `sign-up answered ${answer.status}: ${answer.text} ${JSON.stringify([...answer.headers])}`,
    );
  return { token: answer.body.access_token, user: answer.body.user };
}

/** The `pr_session` cookie that a response sets: its value, and the line with its attributes. */
export function sessionCookie(answer: ApiAnswer): { value: string; line: string } | undefined {
  const line = answer.headers.getSetCookie().find((cookie) => cookie.startsWith('pr_session='));
  return line === undefined ? undefined : { line, value: line.slice('pr_session='.length).split(';')[0]! };
}

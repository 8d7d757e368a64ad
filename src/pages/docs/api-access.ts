import type { ApiOperation } from './openapi-types.js';

/** How callers of an operation authenticate. */
interface Access {
  /** With code in backticks. */
  words: string;
  /** The shell variable that holds the secret in examples; undefined where there is none. */
  variable?: string;
}

const OPEN: Access = { words: 'No authentication.' };
const SESSION: Access = { words: 'With a session.', variable: '$TOKEN' };
const BY_SCHEME: Readonly<Record<string, Access>> = {
  key: { words: 'With an API key.', variable: '$KEY' },
  internal: { words: 'With the value of `GPU_HEARTBEAT_SECRET`.', variable: '$GPU_HEARTBEAT_SECRET' },
};

/** Who may call an operation, by its security schemes: a session where it names none. */
export function operationAccess({ security }: ApiOperation): Access {
  if (security?.length === 0) return OPEN;
  const [scheme = ''] = Object.keys(security?.[0] ?? {});
  return BY_SCHEME[scheme] ?? SESSION;
}

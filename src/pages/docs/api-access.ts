import type { ApiOperation } from './openapi-types.js';

/** How callers of an operation authenticate. */
interface Access {
  /** Text with code in backticks. */
  words: string;
  /** The shell variable that holds the secret in examples; undefined without a secret. */
  variable?: string;
}

const OPEN: Access = { words: 'No authentication.' };
const SESSION: Access = { words: 'With a session.', variable: '$TOKEN' };
const BY_SCHEME: Readonly<Record<string, Access>> = {
  key: { words: 'With an API key.', variable: '$KEY' },
  internal: { words: 'With the value of `GPU_HEARTBEAT_SECRET`.', variable: '$GPU_HEARTBEAT_SECRET' },
};

/** Who may call an operation, from its security schemes: without any, everybody with a session. */
export function operationAccess({ security }: ApiOperation): Access {
  if (security?.length === 0) return OPEN;
  const [scheme = ''] = Object.keys(security?.[0] ?? {});
  return BY_SCHEME[scheme] ?? SESSION;
}

/**
 * Changes of keys, accounts, plans and models reach every edge over one NOTIFY channel. The payload names what
 * changed, never its content. Sent inside the changing transaction, so that it arrives after the commit.
 * Never sent by the usage path: NOTIFY takes a lock that all commits share.
 */
export const INVALIDATION_CHANNEL = 'gateway_invalidate';

export type Invalidation =
  | { kind: 'account'; id: string }
  | { kind: 'key'; id: string }
  /** Plans or models: everything cached is read again. */
  | { kind: 'catalog' };

export function encodeInvalidation(change: Invalidation): string {
  return change.kind === 'catalog' ? 'catalog' : `${change.kind}:${change.id}`;
}

/** Undefined for a payload that this build doesn't know. */
export function decodeInvalidation(payload: string): Invalidation | undefined {
  if (payload === 'catalog') return { kind: 'catalog' };
  const [kind, id] = payload.split(':', 2);
  if ((kind === 'account' || kind === 'key') && id) return { kind, id };
  return undefined;
}

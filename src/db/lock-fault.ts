/** Whether a statement gave up waiting for the lock of another session (`lock_timeout`). */
export function isLockFault(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '55P03';
}

/** Whether PostgreSQL ended the transaction because of a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '40P01';
}

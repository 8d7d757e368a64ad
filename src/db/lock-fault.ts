/** Whether another session had locked a row or a table for longer than the statement waits (`lock_timeout`). */
export function isLockFault(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '55P03';
}

/** Whether PostgreSQL ended the transaction because it and another waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '40P01';
}

/** Whether another session had locked a row or a table for longer than the statement waits (`lock_timeout`). */
export function isLockFault(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '55P03';
}

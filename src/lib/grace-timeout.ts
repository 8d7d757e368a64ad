/**
 * A timeout that lets the process read pending input first: after a standstill, the timer fires before input that arrived in time is
 * read.
 * @param onOver Called once the input that had arrived by the timeout has been read.
 * @returns A function that clears the timeout.
 */
export function graceTimeout(timeoutMs: number, onOver: () => void): () => void {
  let over: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    over = setImmediate(onOver);
  }, timeoutMs);
  return () => {
    clearTimeout(timer);
    clearImmediate(over);
  };
}

/**
 * A time limit that reads first: a process that stood still past the limit finds its timer before what arrived in time.
 * @param onOver is called once what had arrived by the limit has been read
 * @returns ends the limit
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

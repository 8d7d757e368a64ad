/** Lets a bounded number of tasks run at once; the others wait in line. */
export interface Gate {
  /** @throws GateFullError when the line is full. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

export class GateFullError extends Error {
  constructor() {
    super('too many tasks are waiting');
    this.name = 'GateFullError';
  }
}

/** A gate for `atOnce` tasks with room for `waiting` more. */
export function createGate({ atOnce, waiting }: { atOnce: number; waiting: number }): Gate {
  let running = 0;
  const line: (() => void)[] = [];
  return {
    async run(task) {
      if (running < atOnce) running++;
      else if (line.length >= waiting) throw new GateFullError();
      // Whoever leaves hands its place on, so that `running` stays as it is.
      else await new Promise<void>((resolve) => line.push(resolve));
      try {
        return await task();
      } finally {
        const next = line.shift();
        if (next) next();
        else running--;
      }
    },
  };
}

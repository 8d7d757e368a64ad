import type { RunOutput } from '../playground.outputs.js';

/** Text that arrives within this time is sent to followers as one event, here and in other processes. */
export const GATHER_MS = 25;

/** The current state of a run. */
export interface LiveRun {
  readonly id: string;
  readonly model: string;
  status: RunOutput['status'];
  text: string;
  ttftMs: number | null;
  /** Set when the run has ended. */
  result: RunOutput | undefined;
}

export const liveRun = (run: Pick<RunOutput, 'id' | 'model_public_name' | 'status'>): LiveRun => ({
  id: run.id,
  model: run.model_public_name,
  status: run.status,
  text: '',
  ttftMs: null,
  result: undefined,
});

/** A session whose runs are made or followed in this process. Holds only its current state, no queue of events. */
export class LiveSession {
  /** True once the session is deleted: no more events follow. */
  gone = false;
  readonly #listeners = new Set<() => void>();

  constructor(
    readonly id: string,
    readonly accountId: string,
    readonly runs: readonly LiveRun[],
  ) {}

  get over(): boolean {
    return this.gone || this.runs.every(({ result }) => result !== undefined);
  }

  /** Calls `listener` after each change. Returns a function that stops this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Ends a run with its final record. */
  end(run: LiveRun, result: RunOutput): void {
    run.result = result;
    run.status = result.status;
    run.ttftMs = result.ttft_ms;
    // The complete text: the last message may have left some out, or none was ever received.
    run.text = result.response_content ?? '';
    this.changed();
  }

  /** Resolves once every run has ended. */
  async ended(): Promise<void> {
    if (this.over) return;
    await new Promise<void>((resolve) => {
      const leave = this.onChange(() => {
        if (!this.over) return;
        leave();
        resolve();
      });
    });
  }
}

import type { RunOutput } from '../playground.outputs.js';

/** Text that comes within this time is told to followers as one event, here and in other processes. */
export const GATHER_MS = 25;

/** A run under way, as far as it has come. */
export interface LiveRun {
  readonly id: string;
  readonly model: string;
  status: RunOutput['status'];
  text: string;
  ttftMs: number | null;
  /** Set once it has ended. */
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

/** A session whose runs are under way in this process, or are followed here. Nothing waits in lines: it is as far as it is. */
export class LiveSession {
  /** Deleted: nothing more will come. */
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

  /** Calls `listener` after each change. Gives the way to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Ends a run with what is known of it at last. */
  end(run: LiveRun, result: RunOutput): void {
    run.result = result;
    run.status = result.status;
    run.ttftMs = result.ttft_ms;
    // What the last message left out, and what was never told live.
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

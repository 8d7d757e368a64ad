import type { Question, ToFrame, Trouble } from './protocol';

/**
 * Calls the gateway for the frame, which has no connection and no origin. `host` is empty in pages of the gateway itself.
 */
export class Calls {
  readonly #open = new Map<number, AbortController>();

  constructor(
    private readonly host: string,
    private readonly key: string,
    private readonly tell: (message: ToFrame) => void,
    private readonly onTrouble: (code: string | undefined) => void,
  ) {}

  /** Passes the answer on as it streams. */
  async ask(id: number, question: Question): Promise<void> {
    const control = new AbortController();
    this.#open.set(id, control);
    try {
      await this.#relay(id, question, control.signal);
      this.tell({ v: 1, type: 'done', id });
    } catch (error) {
      if (control.signal.aborted) return;
      // The browser gives no details of a request that we may not read.
      const trouble: Trouble = error instanceof Error ? {} : (error as Trouble);
      this.tell({ v: 1, type: 'error', id, trouble });
      this.onTrouble(trouble.code);
    } finally {
      this.#open.delete(id);
    }
  }

  stop(id: number): void {
    this.#open.get(id)?.abort();
  }

  /** Ends all calls: nobody waits for the answers any more. */
  stopAll(): void {
    for (const control of this.#open.values()) control.abort();
  }

  async #relay(id: number, question: Question, signal: AbortSignal): Promise<void> {
    const response = await fetch(`${this.host}/api/widget/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ public_key: this.key, stream: true, ...question }),
      credentials: 'omit',
      signal,
    });
    if (!response.ok || !response.body) throw await troubleOf(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      this.tell({ v: 1, type: 'chunk', id, text: part.value });
    }
  }
}

async function troubleOf(response: Response): Promise<Trouble> {
  const after = Number(response.headers.get('retry-after'));
  const body = (await response.json().catch(() => undefined)) as { error?: { code?: string } } | undefined;
  return { code: body?.error?.code ?? 'unknown', ...(after > 0 && { retryAfter: after }) };
}

/** The parts of a chunk that the frame reads. */
interface Chunk {
  choices?: { delta?: { content?: string | null } }[];
  session_id?: string;
  mac?: string;
  error?: { code?: string };
}

/** Assembles the answer from the text of an event stream, wherever it is split. */
export class AnswerStream {
  text = '';
  session: string | undefined;
  mac: string | undefined;
  /** The code of an error that ended the stream. */
  failure: string | undefined;
  /** Whether the end of the stream has come. Without it the answer was cut off. */
  complete = false;
  #rest = '';

  /** @returns Whether anything but empty comments came: those only mean that the gateway is waiting as well. */
  push(part: string): boolean {
    const lines = (this.#rest + part).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) if (line.startsWith('data:')) this.#take(line.slice('data:'.length).trim());
    return lines.some((line) => line !== '' && line !== ':');
  }

  #take(data: string): void {
    if (data === '[DONE]') {
      this.complete = true;
      return;
    }
    let chunk: Chunk;
    try {
      chunk = JSON.parse(data) as Chunk;
    } catch {
      return;
    }
    if (chunk.error) this.failure = chunk.error.code ?? 'unknown';
    const content = chunk.choices?.[0]?.delta?.content;
    if (typeof content === 'string') this.text += content;
    this.session = chunk.session_id ?? this.session;
    this.mac = chunk.mac ?? this.mac;
  }
}

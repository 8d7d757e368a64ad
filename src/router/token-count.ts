const NAME = Buffer.from('"total_tokens"');
const MEMBER = /^"total_tokens"\s*:\s*(\d{1,12})/;
/** More than the member's name, spaces and digits. */
const MEMBER_BYTES = 64;
const BYTES_PER_TOKEN = 4;

/** Counts the tokens of one answer: as the node reports them, else estimated by bytes. Quotes within texts are escaped, so no text matches. */
export class TokenCount {
  #bytes: number;
  #tail: Buffer = Buffer.alloc(0);
  #reported: number | undefined;

  constructor(requestBytes: number) {
    this.#bytes = requestBytes;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const bytes = Buffer.concat([this.#tail, chunk]);
    const at = bytes.lastIndexOf(NAME);
    const found = at < 0 ? null : MEMBER.exec(bytes.toString('latin1', at, at + MEMBER_BYTES));
    if (found) this.#reported = Number(found[1]);
    this.#tail = Buffer.from(bytes.subarray(-MEMBER_BYTES));
  }

  get total(): number {
    return this.#reported ?? Math.ceil(this.#bytes / BYTES_PER_TOKEN);
  }
}

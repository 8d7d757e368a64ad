const NAME = Buffer.from('"total_tokens"');
const MEMBER = /^"total_tokens"\s*:\s*(\d{1,12})/;
/** More than the member's name, spaces and digits. */
const MEMBER_BYTES = 64;
const BYTES_PER_TOKEN = 4;
/** Begins the content of a data URL, such as an image's. */
const BASE64 = Buffer.from(';base64,');
const QUOTE = 0x22;
/** What counts of one: an image has about 765 tokens, however large its file is. */
const MOST_OF_FILE = 3_060;

/** Counts the tokens of one call: as the node reports them, else estimated. Quotes within texts are escaped, so no text matches. */
export class TokenCount {
  readonly #prompt: number;
  #bytes = 0;
  #tail: Buffer = Buffer.alloc(0);
  #reported: number | undefined;

  constructor(request: Buffer) {
    this.#prompt = promptTokens(request);
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const bytes = Buffer.concat([this.#tail, chunk]);
    const at = bytes.lastIndexOf(NAME);
    const found = at < 0 ? null : MEMBER.exec(bytes.toString('latin1', at, at + MEMBER_BYTES));
    if (found) this.#reported = Number(found[1]);
    this.#tail = Buffer.from(bytes.subarray(-MEMBER_BYTES));
  }

  /** `events`: how many events with data have arrived of a stream, about one for each token; undefined for a whole answer. */
  total(events: number | undefined): number {
    return this.#reported ?? this.#prompt + (events ?? Math.ceil(this.#bytes / BYTES_PER_TOKEN));
  }
}

function promptTokens(request: Buffer): number {
  let bytes = request.length;
  for (let at = request.indexOf(BASE64); at >= 0; at = request.indexOf(BASE64, at)) {
    const end = request.indexOf(QUOTE, at);
    if (end < 0) break;
    bytes -= Math.max(0, end - at - MOST_OF_FILE);
    at = end;
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

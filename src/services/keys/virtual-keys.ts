import { Agent, request } from 'undici';
import { z } from 'zod';

/** Creates and removes virtual keys at the model proxy, over LiteLLM's API. */
export interface VirtualKeyClient {
  /**
   * A new virtual key for an account. `alias` must be unique at the proxy.
   * @throws VirtualKeyError
   */
  generate(input: { accountId: string; alias: string }): Promise<string>;
  /**
   * Removes virtual keys; those that are already gone count as removed.
   * @throws VirtualKeyError
   */
  remove(virtualKeys: string[]): Promise<void>;
}

/** Its message contains no keys, addresses or proxy responses, so it is safe to log. */
export class VirtualKeyError extends Error {
  constructor(reason: string) {
    super(`the model proxy ${reason}`);
    this.name = 'VirtualKeyError';
  }
}

export interface VirtualKeyClientOptions {
  /** URL of the model proxy, without a trailing slash. */
  url: string;
  masterKey: string;
  /** Time limit of one call from connect to the last byte, milliseconds; 5,000 by default. */
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** LiteLLM's message when some of the keys to remove don't exist. */
const SOME_GONE = /not all keys passed in were deleted|no keys found|key not found/i;

/** Visible ASCII only: the key is sent in a header. */
const generated = z.object({ key: z.string().regex(/^[!-~]{1,512}$/) });

/** A client that authenticates with the master key. No call takes longer than `timeoutMs`. */
export function createVirtualKeyClient(options: VirtualKeyClientOptions): VirtualKeyClient {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  // No keep-alive: calls are rare, and a POST isn't repeated on a socket that a restarted proxy has closed.
  const dispatcher = new Agent({ pipelining: 0, connect: { timeout: timeoutMs } });

  const post = async (path: string, body: unknown): Promise<{ status: number; text: string }> => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(`${options.url}${path}`, {
        dispatcher,
        method: 'POST',
        headers: { authorization: `Bearer ${options.masterKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal,
      });
      return { status: response.statusCode, text: await readBounded(response.body) };
    } catch (error) {
      if (error instanceof VirtualKeyError) throw error;
      if (signal.aborted) throw new VirtualKeyError(`did not answer within ${timeoutMs} ms`);
      const code = (error as { code?: unknown }).code;
      throw new VirtualKeyError(
        `could not be reached (${typeof code === 'string' ? code : 'unknown cause'})`,
      );
    }
  };

  return {
    async generate({ accountId, alias }) {
      const { status, text } = await post('/key/generate', { user_id: accountId, key_alias: alias });
      if (status !== 200) throw new VirtualKeyError(`responded with ${status} instead of a virtual key`);
      const answer = generated.safeParse(parseJson(text));
      if (!answer.success) throw new VirtualKeyError('returned a response without a virtual key');
      return answer.data.key;
    },
    async remove(virtualKeys) {
      if (virtualKeys.length === 0) return;
      const { status, text } = await post('/key/delete', { keys: virtualKeys });
      if (status === 200 || status === 404) return;
      if (status !== 400 || !SOME_GONE.test(text))
        throw new VirtualKeyError(`responded with ${status} to a removal`);
      // LiteLLM refuses a list with a missing key, and may have removed some of the others by then.
      if (virtualKeys.length > 1) for (const key of virtualKeys) await this.remove([key]);
    },
  };
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop destroys the body and the connection.
    if (bytes > MAX_ANSWER_BYTES) throw new VirtualKeyError('returned a response that is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Undefined for invalid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

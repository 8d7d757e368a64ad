import { FULL_STREAM, type Script, type ScriptedUpstream, usageEvent } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

/** Streams that get comments while they wait for their node. */

const COMMENT = ':\n\n';
export const bounds = { firstCommentMs: 60, nextCommentMs: 90 };
/** What a caller gets of `FULL_STREAM` if he doesn't ask for usage. */
export const ANSWER = FULL_STREAM.filter((event) => event !== usageEvent(12, 34)).join('');

export const commentsIn = (text: string): number => text.split(COMMENT).length - 1;
export const withoutComments = (text: string): string => text.replaceAll(COMMENT, '');

/** Reads a response; `text` returns what has arrived so far. */
function reading(response: Response): { text(): string; whole: Promise<string> } {
  let text = '';
  const whole = (async () => {
    const decoder = new TextDecoder();
    for await (const part of response.body!) text += decoder.decode(part as Uint8Array, { stream: true });
    return text;
  })();
  whole.catch(() => undefined);
  return { text: () => text, whole };
}

/** Reads until so many comments have arrived. */
export async function waiting(response: Response, comments = 2) {
  const read = reading(response);
  await until(() => commentsIn(read.text()) >= comments, { what: 'comments' });
  return read;
}

/** Holds calls until the returned function is called, and then answers by `script`. */
export function held(upstream: ScriptedUpstream, script: Script): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.answer(async (request, response) => {
    await promise;
    return script(request, response);
  });
  return resolve;
}

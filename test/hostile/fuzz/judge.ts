import { readFileSync } from 'node:fs';
import { errorTable } from '../../../src/errors.js';
import { refusalCode } from '../../../src/lib/upstream/refusal-codes.js';
import type { Answer } from './wire.js';

/** Stack traces, paths, addresses and drivers' words. */
const LEAKS =
  /\n\s+at .+:\d+:\d+|node_modules|\/(?:tmp|home|usr|root|srv|opt)\/|\.[jt]s:\d+|postgres(?:ql)?:\/\/|ECONN|127\.0\.0\.1:\d|statusCode|FST_ERR|syntax error at|relation "/;
/** The source of the agent, which operators download, names paths and loopback addresses. */
const AGENT = readFileSync('dist/cli/gateway-agent.js', 'latin1').replace(/^\/\/# sourceMappingURL=.*$/m, '');
/** What a client does wrong on the way to an answer; the code beside it is of another status. */
const OF_HTTP = [408, 417];

/** What must not stand in anything that came over the wire; undefined when it is fine. */
export function leakIn(text: string, secrets: readonly string[]): string | undefined {
  const leak = LEAKS.exec(text.replaceAll(AGENT, ''))?.[0] ?? secrets.find((secret) => text.includes(secret));
  return leak === undefined ? undefined : `leak of ${JSON.stringify(leak)}`;
}

/** What is wrong with an answer to a request of good framing; undefined when it is as the contract says. */
export function faultOf({ status, head, body }: Answer, secrets: readonly string[]): string | undefined {
  const leak = leakIn(head, secrets) ?? leakIn(body, secrets);
  if (leak) return leak;
  if (status >= 500) return `status ${status}`;
  if (status < 400 || body === '' || OF_HTTP.includes(status)) return undefined;
  if (isPage(head)) return body.endsWith('</html>\n') ? undefined : `a page that is cut: ${status}`;
  if (!/^content-type: application\/json/im.test(head)) return `an error that is no JSON: ${status}`;
  const code = codeIn(body);
  // One of OpenAI's, which a model server used.
  if (refusalCode('', code) !== undefined) return undefined;
  if (code === undefined || !Object.hasOwn(errorTable, code))
    return `an error without a code of ours: ${status}`;
  const declared = errorTable[code as keyof typeof errorTable].status;
  // The model's own refusals keep their status: its 422 is `invalid_request` as well.
  if (declared !== status && !(code === 'invalid_request' && status === 422)) return `${status} with ${code}`;
  return undefined;
}

/** Where links in mails lead, people read the answer. */
const isPage = (head: string): boolean =>
  /^content-type: text\/html/im.test(head) && /^cache-control: no-store/im.test(head);

/** An error of REST and `/v1`, or the first of GraphQL. */
interface ErrorBody {
  error?: { code: string };
  errors?: { extensions: { code: string } }[];
}

function codeIn(body: string): string | undefined {
  try {
    const { error, errors } = JSON.parse(Buffer.from(body, 'latin1').toString()) as ErrorBody;
    return error?.code ?? errors?.[0]?.extensions.code;
  } catch {
    return undefined;
  }
}

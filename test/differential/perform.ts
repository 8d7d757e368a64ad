import type { Account, Build } from './build.js';
import { answerParts, nodeParts, type Parts } from './compare.js';
import type { Step } from './scenario.js';
import { type Got, pipeline, type Sent, send, sendBytes } from './send.js';

/** A build's reaction to one request. */
export interface Performed {
  id: string;
  parts: Parts;
  /** The id of its usage event, if it has one. */
  requestId: string | undefined;
}

const filled = (text: string, { secrets }: Account): string =>
  text.replace(/\{(key|token|widget)\}/g, (placeholder, name: string) => secrets[name] ?? placeholder);

function inNameOf(account: Account, sent: Sent): Sent {
  const headers = Object.entries(sent.headers).map(([name, value]) => [name, filled(value, account)]);
  return {
    ...sent,
    path: filled(sent.path, account),
    headers: Object.fromEntries(headers) as Record<string, string>,
    ...(typeof sent.body === 'string' && { body: filled(sent.body, account) }),
  };
}

/** Sends the request of a step to a build, in the name of an account. */
export async function perform(
  { url, nodes }: Build,
  account: Account,
  id: string,
  step: Step,
): Promise<Performed[]> {
  const answers = await exchanged(url, account, step);
  const seen = nodes.seen.get(id);
  nodes.seen.delete(id);
  return answers.map((got, i) => ({
    id: answers.length === 1 ? id : `${id}.${i}`,
    parts: { ...answerParts(got, account), ...(i === 0 && nodeParts(seen, account)) },
    requestId: got.headers.find(([header]) => header === 'x-request-id')?.[1],
  }));
}

async function exchanged(url: string, account: Account, step: Step): Promise<Got[]> {
  if ('sent' in step) return [await send(url, inNameOf(account, step.sent))];
  if ('bytes' in step) return [await sendBytes(url, filled(step.bytes, account))];
  const requests = step.pipelined.map((sent) => inNameOf(account, sent));
  return pipeline(url, requests);
}

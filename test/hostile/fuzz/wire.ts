import type { Socket } from 'node:net';
import { open } from '../raw.js';
import type { FuzzRequest } from './requests.js';

/** An answer as it stood on the wire, one character per byte. */
export interface Answer {
  status: number;
  head: string;
  body: string;
  /** From the request, or the answer before it, whichever was later. */
  ms: number;
}

export interface Conversation {
  /** In the order of the requests; fewer when it ended early. */
  answers: Answer[];
  /** Why it ended early: no answer in time, or a connection closed without one. */
  broken: string | undefined;
}

/** Longest wait for one answer. */
export const MAX_ANSWER_MS = 10_000;
/** A mutated request may promise more than it sends. After so much silence it says that no more comes. */
const QUIET_MS = 150;

/**
 * Sends whole requests over one connection, `depth` of them at a time, and takes their answers. A connection that the
 * server closes with an answer is followed by another.
 */
export async function converse(
  url: string,
  requests: readonly FuzzRequest[],
  depth: number,
): Promise<Conversation> {
  const answers: Answer[] = [];
  while (answers.length < requests.length) {
    const before = answers.length;
    const broken = await connection(url, requests, depth, answers);
    if (broken !== undefined) return { answers, broken };
    if (answers.length === before) return { answers, broken: 'the connection was closed without an answer' };
  }
  return { answers, broken: undefined };
}

/** One connection's share of a conversation; resolves when it is closed or all is answered. */
function connection(
  url: string,
  requests: readonly FuzzRequest[],
  depth: number,
  answers: Answer[],
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = open(url);
    let text = '';
    let since = performance.now();
    let sent = answers.length;
    const finish = (broken?: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(broken);
    };
    const timer = setTimeout(() => finish(`no answer in ${MAX_ANSWER_MS} ms`), MAX_ANSWER_MS);
    const send = (): void => {
      if (sent > answers.length || sent === requests.length) return;
      const next = requests.slice(sent, sent + depth);
      sent += next.length;
      since = performance.now();
      socket.write(next.map((request) => request.text).join(''), 'latin1');
    };
    const take = (ended: boolean): void => {
      for (;;) {
        const read = readAnswer(text, requests[answers.length]?.method, ended);
        if (!read) return;
        text = text.slice(read.end);
        if (read.status < 200) continue;
        const now = performance.now();
        const { status, head, body } = read;
        answers.push({ status, head, body, ms: now - since });
        since = now;
        timer.refresh();
        if (answers.length === requests.length) {
          finish();
          return;
        }
      }
    };
    socket.on('connect', send);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      take(false);
      send();
    });
    socket.on('close', () => {
      take(true);
      finish();
    });
  });
}

interface ReadAnswer {
  status: number;
  head: string;
  body: string;
  end: number;
}

/** The first answer of a text, once it is whole; `ended` says that nothing more comes. */
function readAnswer(text: string, method: string | undefined, ended: boolean): ReadAnswer | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 999);
  const start = headEnd + 4;
  const none = status < 200 || status === 204 || status === 304 || method === 'HEAD';
  // A parser that fails doesn't know the method any more: what it says to HEAD has a body and is the last.
  if (none) return { status, head, body: '', end: status >= 400 && ended ? text.length : start };
  const length = /^content-length: *(\d+)$/im.exec(head);
  if (length) {
    const end = start + Number(length[1]);
    return text.length < end ? undefined : { status, head, body: text.slice(start, end), end };
  }
  if (/^transfer-encoding: *chunked$/im.test(head)) return readChunks(text, start, { status, head });
  return ended ? { status, head, body: text.slice(start), end: text.length } : undefined;
}

function readChunks(
  text: string,
  start: number,
  answer: Pick<ReadAnswer, 'status' | 'head'>,
): ReadAnswer | undefined {
  let body = '';
  for (let at = start; ; ) {
    const line = text.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(text.slice(at, line), 16);
    const from = line + 2;
    if (text.length < from + size + 2) return undefined;
    if (size === 0) return { ...answer, body, end: from + 2 };
    body += text.slice(from, from + size);
    at = from + size + 2;
  }
}

/** Sends bytes that may not be HTTP, and gives whatever came until the server closed. */
export function blurt(url: string, bytes: string): Promise<{ text: string; broken: string | undefined }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket: Socket = open(url);
    const finish = (broken?: string): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve({ text: Buffer.concat(chunks).toString('latin1'), broken });
    };
    const limit = setTimeout(() => finish(`not closed in ${MAX_ANSWER_MS} ms`), MAX_ANSWER_MS);
    socket.setTimeout(QUIET_MS, () => socket.end());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', () => finish());
    socket.write(bytes, 'latin1');
  });
}

import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import type { Script } from '../support/scripted-upstream.js';

/** What a node sends, what the caller must get, and what is charged: one file of `forms/`. */
export interface Form {
  /** The file's name without its ending. */
  name: string;
  what: string;
  /** Server and version, or a report; or the form that it is derived from. */
  true_of: string;
  /** Members of the request, beside the usual ones. `input` makes it a call for embeddings. */
  ask?: Record<string, unknown>;
  head: {
    type: string;
    /** How the body ends; chunked unless given. */
    framing?: 'close';
  };
  /** Pieces of the body, each written by itself. */
  body: string[];
  /** The connection breaks behind the last piece. */
  end?: 'cut';
  caller: Received & {
    /** Calls that the node gets of a router that tries twice; 1 unless given. */
    tries?: number;
    /** What callers at some doors get instead, by the door's name. */
    but?: Record<string, Received>;
  };
  /** Input tokens that are estimated depend on the door. */
  charged: 'nothing' | { input?: number; output: number; estimated?: boolean; anomalous?: boolean };
}

/** What a caller gets. */
export interface Received {
  status?: number;
  /** Of the first choice; where it is a list of parts, its JSON. */
  text?: string;
  refusal?: string;
  /** In a member of its own. */
  reasoning?: string;
  finish?: string;
  vectors?: number[][];
  /** Total tokens of the usage that the caller of a stream sees. */
  usage?: number;
  /** Code of the error. */
  error?: string;
  /** Whether a stream ended with `[DONE]`. */
  done?: boolean;
}

const FOLDER = resolve('test/wire/forms');

export const FORMS: readonly Form[] = readdirSync(FOLDER)
  .sort()
  .map((file) => ({
    name: file.replace('.yaml', ''),
    ...(parse(readFileSync(resolve(FOLDER, file), 'utf8')) as Omit<Form, 'name'>),
  }));

/** What a form says of a door. */
export function expectedAt(door: string, { caller }: Form): Received {
  const { tries: _, but, ...usual } = caller;
  return { ...usual, ...but?.[door] };
}

/** Plays a form as a node. */
export const played =
  ({ head, body, end }: Form): Script =>
  async (_request, response) => {
    response.useChunkedEncodingByDefault = head.framing === undefined;
    if (head.framing === 'close') response.setHeader('connection', 'close');
    response.writeHead(200, { 'content-type': head.type });
    for (const piece of body) {
      if (response.destroyed) return;
      await new Promise((written) => response.write(piece, written));
    }
    if (end === 'cut') response.destroy();
    else response.end();
  };

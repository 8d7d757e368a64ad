import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { FORMS_FOLDER, type NodeAnswer, play } from '../../src/proxy/simulator/forms.js';
import type { Script } from '../support/scripted-upstream.js';

/** What a node sends, what the caller must get, and what is charged: one file of `forms/`. */
export interface Form extends NodeAnswer {
  /** The file's name without its ending. */
  name: string;
  what: string;
  /** Server and version, or a report; or the form that it is derived from. */
  true_of: string;
  /** Members of the request, beside the usual ones. `input` makes it a call for embeddings. */
  ask?: Record<string, unknown>;
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

export const FORMS: readonly Form[] = readdirSync(FORMS_FOLDER)
  .sort()
  .map((file) => ({
    name: file.replace('.yaml', ''),
    ...(parse(readFileSync(resolve(FORMS_FOLDER, file), 'utf8')) as Omit<Form, 'name'>),
  }));

/** What a caller at a door must get. */
export function expectedAt(door: string, { caller }: Form): Received {
  const { tries: _, but, ...usual } = caller;
  return { ...usual, ...but?.[door] };
}

/** Plays a form as a node. */
export const played =
  (form: Form): Script =>
  (_request, response) =>
    play(form, response);

import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { parse } from 'yaml';
import { productRoot } from '../../lib/product-root.js';

/** The corpus of what real servers send. It is part of a checkout, with what tests expect of each form; images lack it. */
export const FORMS_FOLDER = 'test/wire/forms';

/** What a node sends. */
export interface NodeAnswer {
  head: {
    type: string;
    /** How the body ends; chunked unless given. */
    framing?: 'close';
  };
  /** Pieces of the body, each written by itself. */
  body: string[];
  /** The connection breaks behind the last piece. */
  end?: 'cut';
}

/** Reads a form of the corpus. `name` has letters, digits and hyphens only. Returns undefined if there is no such form. */
export async function readNodeForm(name: string): Promise<NodeAnswer | undefined> {
  const text = await readFile(join(productRoot(), FORMS_FOLDER, `${name}.yaml`), 'utf8').catch(
    () => undefined,
  );
  return text === undefined ? undefined : (parse(text) as NodeAnswer);
}

/** Sends an answer byte by byte as the node did. */
export async function play({ head, body, end }: NodeAnswer, response: ServerResponse): Promise<void> {
  response.useChunkedEncodingByDefault = head.framing === undefined;
  if (head.framing === 'close') response.setHeader('connection', 'close');
  response.writeHead(200, { 'content-type': head.type });
  for (const piece of body) {
    if (response.destroyed) return;
    await new Promise((written) => response.write(piece, written));
  }
  if (end === 'cut') response.destroy();
  else response.end();
}

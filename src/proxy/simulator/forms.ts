import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { parse } from 'yaml';
import { productRoot } from '../../lib/product-root.js';

/** The corpus of answers from real servers. It is part of a checkout, but not of container images. */
export const FORMS_FOLDER = 'test/wire/forms';

/** An answer as a node sends it. */
export interface NodeAnswer {
  head: {
    type: string;
    /** How the body ends; chunked by default. */
    framing?: 'close';
  };
  /** Pieces of the body, written separately. */
  body: string[];
  /** The connection breaks after the last piece. */
  end?: 'cut';
}

/** Reads a form of the corpus. `name` must consist of letters, digits and hyphens. Returns undefined if there is no such form. */
export async function readNodeForm(name: string): Promise<NodeAnswer | undefined> {
  const text = await readFile(join(productRoot(), FORMS_FOLDER, `${name}.yaml`), 'utf8').catch(
    () => undefined,
  );
  return text === undefined ? undefined : (parse(text) as NodeAnswer);
}

/** Sends an answer with the same bytes as the node. */
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

import { open, requestText, statusesOf } from '../../../../hostile/raw.js';
import { steadyLoad } from '../../../rig/client.js';
import { addressIn, newAccount } from '../accounts.js';
import type { Attack, Target } from '../attack.js';

const PER_SECOND = 10;
const BODY = 'x'.repeat(2 * 2 ** 20);
const PATIENCE_MS = 15_000;
const BLOCK = 40;

/** Calls of an account without credit, whose large bodies are sent whatever the response. */
export const refusedBodies: Attack = async (target) => {
  // The second account of one person has no starter credit.
  await newAccount(target.url, addressIn(BLOCK, 0), 'penniless@example.com');
  const { key } = await newAccount(target.url, addressIn(BLOCK, 1), 'penniless+2@example.com');
  const head = requestText('POST /v1/chat/completions', [
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${BODY.length}`,
    'Connection: close',
  ]);
  return () => steadyLoad(PER_SECOND, target.over, () => upload(target, head));
};

function upload(target: Target, head: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = open(target.url);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    const limit = setTimeout(() => socket.destroy(), PATIENCE_MS);
    socket.on('close', () => {
      clearTimeout(limit);
      target.count('calls without a cent, bodies of 2 MiB', statusesOf(text).at(-1) ?? 'cut');
      resolve();
    });
    socket.write(head);
    socket.write(BODY);
  });
}

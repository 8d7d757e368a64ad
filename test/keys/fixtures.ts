import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEnvelope } from '../../src/lib/crypto.js';
import { createKeysService } from '../../src/services/keys/keys.service.js';
import { createVirtualKeyClient } from '../../src/services/keys/virtual-keys.js';

export const MASTER_KEY = 'master-key-of-the-tests';

/** How the proxy answers `POST /key/generate` and `POST /key/delete`. */
export type Behaviour =
  | 'works'
  | 'refuses'
  | 'hangs'
  | 'trickles'
  | 'garbage'
  | 'wrong shape'
  | 'floods'
  | 'hangs up';

export interface KeyProxy {
  url: string;
  behaviour: Behaviour;
  /** Virtual keys that stand, with the account they were made for. */
  keys: Map<string, string>;
  aliases: string[];
  calls: string[];
  close(): Promise<void>;
}

/** A server that issues virtual keys like LiteLLM and can fail on request, in the ways that servers fail. */
export async function startKeyProxy(): Promise<KeyProxy> {
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    proxy.calls.push(request.url!);
    if (misbehave(proxy.behaviour, response, timers)) return;
    if (request.headers.authorization !== `Bearer ${MASTER_KEY}`) {
      response.writeHead(401).end();
      return;
    }
    response.setHeader('content-type', 'application/json');
    const body = JSON.parse(text) as { user_id?: string; key_alias?: string; keys?: string[] };
    if (request.url === '/key/generate') {
      const key = `sk-virtual-${proxy.aliases.length}`;
      proxy.keys.set(key, body.user_id!);
      proxy.aliases.push(body.key_alias!);
      response.end(JSON.stringify({ key, user_id: body.user_id, expires: null }));
      return;
    }
    const removed = body.keys!.filter((key) => proxy.keys.delete(key));
    response.writeHead(removed.length > 0 ? 200 : 404).end(JSON.stringify({ deleted_keys: removed }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: KeyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour: 'works',
    keys: new Map(),
    aliases: [],
    calls: [],
    async close() {
      for (const timer of timers) clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** Whether the behaviour has answered, or never will. */
function misbehave(behaviour: Behaviour, response: ServerResponse, timers: Set<NodeJS.Timeout>): boolean {
  switch (behaviour) {
    case 'works':
      return false;
    case 'refuses':
      response.writeHead(500).end('{"error":"sk-virtual-secret at 10.0.0.5"}');
      return true;
    case 'hangs':
      return true;
    case 'trickles':
      response.writeHead(200);
      timers.add(setInterval(() => response.write(' '), 20));
      return true;
    case 'garbage':
      response.end('<html>');
      return true;
    case 'wrong shape':
      response.end('{"key":"two words"}');
      return true;
    case 'floods':
      response.end(`{"key":"k","padding":"${'x'.repeat(1_000_000)}"}`);
      return true;
    case 'hangs up':
      response.destroy();
      return true;
  }
}

const ENCRYPTION_KEY = 'an encryption key of the tests, 32 bytes';
export const virtualKeyEnvelope = createEnvelope('virtual-key', ENCRYPTION_KEY);

/** For a proxy that never answers. Any other may take long on a busy machine. */
export const HASTY_MS = 500;
const PATIENT_MS = 30_000;

/** The service against a proxy. */
export function keysServiceAt(url: string, timeoutMs = PATIENT_MS) {
  return createKeysService({
    envelopes: { virtualKey: virtualKeyEnvelope },
    virtualKeys: createVirtualKeyClient({ url, masterKey: MASTER_KEY, timeoutMs }),
  });
}

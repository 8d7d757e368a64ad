import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What a node does with one call. */
export interface Play {
  /** Bytes of the response including the head; each piece is one write. */
  pieces: readonly Buffer[];
  /** Pause before each piece except the first. */
  pauseMs?: number;
  /** `silent`: nothing more comes, and the connection stays open. */
  end: 'keep' | 'close' | 'reset' | 'silent';
}

/** One play per attempt of a call. The last one also serves all later attempts. */
export type Script = readonly [Play, ...Play[]];

/** A call as received by a node. */
export interface SeenCall {
  deployment: string;
  target: string;
  /** Sorted, names in lower case. */
  headers: string;
  body: string;
}

/** The nodes of one build: a listener for each deployment. */
export interface Nodes {
  ports: Record<string, number>;
  /** Calls by the name of their script, oldest first. */
  seen: Map<string, SeenCall[]>;
  close(): void;
}

/** Marks the prompt or input of a call with the name of its script. */
export const marker = (script: string): string => `[[play ${script}]]`;
const MARKER = /\[\[play ([\w./-]+)\]\]/;

/** Long enough for a reader to receive each piece separately, unless the machine is very busy. */
const PAUSE_MS = 8;

/** Starts a listener for each deployment. `scriptOf` gets the name in the call, or undefined. */
export async function startNodes(
  deployments: readonly string[],
  scriptOf: (name: string | undefined, body: string) => Script,
): Promise<Nodes> {
  const seen: Nodes['seen'] = new Map();
  const sockets = new Set<Socket>();
  const attempt = (deployment: string, head: string, body: string): Play => {
    const name = MARKER.exec(body)?.[1];
    const calls = seen.get(name ?? '') ?? [];
    seen.set(name ?? '', calls);
    const [line, ...headers] = head.split('\r\n');
    calls.push({
      deployment,
      target: line!,
      headers: headers
        .map((header) => header.replace(/^[^:]+/, (text) => text.toLowerCase()))
        .sort()
        .join('\n'),
      body,
    });
    const script = scriptOf(name, body);
    return script[Math.min(calls.length, script.length) - 1]!;
  };
  const servers = deployments.map((deployment) =>
    createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      readCalls(socket, (head, body) => perform(socket, attempt(deployment, head, body)));
    }).listen(0, '127.0.0.1'),
  );
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const port = (i: number): number => (servers[i]!.address() as AddressInfo).port;
  return {
    ports: Object.fromEntries(deployments.map((deployment, i) => [deployment, port(i)])),
    seen,
    close() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Reads calls, each with a Content-Length or without a body, and reports each complete one. */
function readCalls(socket: Socket, onCall: (head: string, body: string) => void): void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let needed = 0;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes > needed) {
      const all = Buffer.concat(chunks);
      const headEnd = all.indexOf('\r\n\r\n');
      chunks = [all];
      if (headEnd < 0) return;
      const head = all.toString('latin1', 0, headEnd);
      const end = headEnd + 4 + Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0);
      // Not parsed again before this many bytes have arrived.
      needed = end - 1;
      if (bytes < end) return;
      onCall(head, all.toString('latin1', headEnd + 4, end));
      chunks = [all.subarray(end)];
      bytes -= end;
      needed = 0;
    }
  });
}

async function perform(socket: Socket, { pieces, pauseMs = PAUSE_MS, end }: Play): Promise<void> {
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await delay(pauseMs);
    if (socket.destroyed) return;
    socket.write(piece);
  }
  if (end === 'close') socket.end();
  // Earlier writes have to arrive.
  if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
}

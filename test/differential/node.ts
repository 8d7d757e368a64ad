import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What a node does with one call. */
export interface Play {
  /** Bytes of the answer, head included; each is one write. */
  pieces: readonly Buffer[];
  /** Before each piece but the first. */
  pauseMs?: number;
  /** `silent`: nothing more comes, and the connection stays open. */
  end: 'keep' | 'close' | 'reset' | 'silent';
}

/** One play for each attempt of a call; the last one also for all later attempts. */
export type Script = readonly [Play, ...Play[]];

/** A call as it reached a node. */
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

/** Put into the prompt or input of a call, it names the script of its answer. */
export const marker = (script: string): string => `[[play ${script}]]`;
const MARKER = /\[\[play ([\w./-]+)\]\]/;

/** Long enough that a reader takes each piece by itself, unless the machine is very busy. */
const PAUSE_MS = 8;

/** Starts a listener for each deployment. `scriptOf` is asked with the name that a call carries, or undefined. */
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

/** Reads calls, each with a Content-Length or without a body, and hands over each once it is whole. */
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
      // Not looked at again before so much is there.
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
  // What was written before is to arrive.
  if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
}

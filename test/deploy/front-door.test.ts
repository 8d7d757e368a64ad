import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';
import { errorTable } from '../../src/errors.js';
import { MAX_HEADER_BYTES } from '../../src/lib/http-limits.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';

const NGINX = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((path) => existsSync(path));

/** deploy/nginx.conf in a real nginx, with two test servers instead of edges. Only where nginx is installed, as in CI. */
if (NGINX) {
  describe('the front door, for real', () => {
    let folder: string;
    let nginx: ChildProcess;
    let url: string;
    let edges: Server[];
    const seen: string[] = [];
    let finish: () => void;

    const startEdge = async (name: string): Promise<Server> => {
      const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
        seen.push(`${name} ${request.method} ${request.url} ${request.headers['x-forwarded-for']}`);
        if (request.url !== '/v1/stream') {
          request.resume();
          response.end(name);
          return;
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
        finish = () => response.end('data: [DONE]\n\n');
        response.on('close', () => seen.push(`${name} closed ${response.writableFinished}`));
      });
      const sockets = new WebSocketServer({
        server,
        path: '/graphql',
        handleProtocols: () => 'graphql-transport-ws',
      });
      sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(`${name}: ${data}`)));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    };
    const portOf = (server: Server): number => (server.address() as AddressInfo).port;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gateway-front-'));
      edges = [await startEdge('one'), await startEdge('two')];
      const port = await freePort();
      const text = readFileSync('deploy/nginx.conf', 'utf8')
        .replace('172.30.0.11:8080', `127.0.0.1:${portOf(edges[0]!)}`)
        .replace('172.30.0.12:8080', `127.0.0.1:${portOf(edges[1]!)}`)
        .replace('listen 8080', `listen 127.0.0.1:${port}`)
        .replace('/tmp/nginx.pid', join(folder, 'nginx.pid'))
        .replace('worker_processes auto', 'worker_processes 1');
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${join(folder, name)};`)
        .join(' ');
      const path = join(folder, 'nginx.conf');
      const asRoot = process.getuid?.() === 0 ? 'user root;\n' : '';
      writeFileSync(
        path,
        `daemon off;\n${asRoot}${text.replace('access_log off;', `access_log off; ${temporary}`)}`,
      );
      nginx = spawn(NGINX, ['-p', folder, '-c', path, '-e', join(folder, 'error.log')], { stdio: 'ignore' });
      url = `http://127.0.0.1:${port}`;
      await until(async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok);
    });
    afterAll(async () => {
      const gone = once(nginx, 'exit');
      nginx.kill('SIGTERM');
      await gone;
      for (const edge of edges) {
        edge.closeAllConnections();
        edge.close();
      }
      rmSync(folder, { recursive: true, force: true });
    });

    test('passes a stream on as it arrives, and disconnects from the edge when the caller leaves', async () => {
      const response = await fetch(`${url}/v1/stream`, { method: 'POST', body: '{}' });
      const reader = response.body!.getReader();
      // The stream hasn't ended, so a buffer would hold this piece back.
      expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: first\n\n');
      finish();
      expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: [DONE]\n\n');
      expect((await reader.read()).done).toBe(true);

      const leaving = new AbortController();
      const left = await fetch(`${url}/v1/stream`, { method: 'POST', body: '{}', signal: leaving.signal });
      await left.body!.getReader().read();
      leaving.abort();
      await until(() => seen.some((line) => line.endsWith('closed false')));
    });

    test('upgrades a WebSocket', async () => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      await once(socket, 'open');
      expect(socket.protocol).toBe('graphql-transport-ws');
      socket.send('hello');
      expect(String((await once(socket, 'message'))[0])).toMatch(/^(?:one|two): hello$/);
      socket.close();
      await once(socket, 'close');
    });

    test("forwards the caller's real address, whatever the caller claims", async () => {
      await fetch(`${url}/v1/models`, { headers: { 'x-forwarded-for': '1.2.3.4' } });
      expect(seen.at(-1)).toMatch(/GET \/v1\/models 127\.0\.0\.1$/);
    });

    test('leaves the refusal of too large headers to the edge', async () => {
      const send = (bytes: number) => fetch(url, { headers: { 'x-padding': 'y'.repeat(bytes) } });
      expect((await send(MAX_HEADER_BYTES - 1_024)).status).toBe(200);
      expect((await send(MAX_HEADER_BYTES + 1_024)).status).toBe(431);
    });

    const stop = async (edge: Server): Promise<() => Promise<void>> => {
      const port = portOf(edge);
      edge.closeAllConnections();
      edge.close();
      await once(edge, 'close');
      return async () => {
        edge.listen(port, '127.0.0.1');
        await once(edge, 'listening');
      };
    };
    const post = (path: string) => fetch(url + path, { method: 'POST', body: '{"n":1}' });

    test("passes calls that one edge doesn't accept to the other, also when both restart right after one another", async () => {
      for (const [stopped, other] of [
        [0, 'two'],
        [1, 'one'],
        [0, 'two'],
      ] as const) {
        const start = await stop(edges[stopped]!);
        for (let i = 0; i < 20; i++) {
          const response = await post('/v1/chat/completions');
          expect([response.status, await response.text()]).toEqual([200, other]);
        }
        await start();
      }
      await until(async () => (await (await fetch(`${url}/health`)).text()) === 'one');
    });

    test('answers in the form of the API when there is no edge', async () => {
      const starts = [await stop(edges[0]!), await stop(edges[1]!)];
      const response = await post('/v1/chat/completions');
      expect([response.status, response.headers.get('content-type')]).toEqual([503, 'application/json']);
      expect(response.headers.get('retry-after')).toBe('1');
      expect(response.headers.get('x-request-id')).toMatch(/^\w{32}$/);
      const { message } = errorTable.service_unavailable;
      const error = { message, type: 'server_error', param: null, code: 'service_unavailable' };
      expect(await response.json()).toEqual({ error });
      const messages = await post('/v1/messages?beta=true');
      expect([messages.status, await messages.json()]).toEqual([
        503,
        {
          type: 'error',
          error: { type: 'overloaded_error', message },
          request_id: messages.headers.get('x-request-id'),
        },
      ]);
      expect((await fetch(`${url}/unavailable`)).headers.get('content-type')).toContain('text/html');
      for (const start of starts) await start();
      expect((await post('/v1/chat/completions')).status).toBe(200);
    });
  });
} else {
  test('the front door is tested with a real nginx, at least in CI', () =>
    expect(process.env.CI).toBeUndefined());
}

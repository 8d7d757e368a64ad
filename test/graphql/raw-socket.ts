import { WebSocket } from 'ws';
import { until } from '../support/until.js';
import { socketUrl } from './support.js';

/** A WebSocket without the manners of a client: says what the test says, when it says it. */
export interface RawSocket {
  socket: WebSocket;
  /** Messages that came. */
  heard: { type: string; id?: string; payload?: unknown }[];
  say(message: unknown): void;
  /** Code and reason of the close. */
  closed(): Promise<{ code: number; reason: string }>;
  /** Until a message of this type, for this operation, has come. */
  hears(type: string, id?: string): Promise<unknown>;
  /** Shows a session. */
  init(token?: string): Promise<void>;
}

export interface RawSocketOptions {
  headers?: Record<string, string>;
  protocol?: string;
}

/** Opens one; refused upgrades throw what the server answered. */
export async function rawSocket(
  url: string,
  { headers = {}, protocol = 'graphql-transport-ws' }: RawSocketOptions = {},
): Promise<RawSocket> {
  const socket = new WebSocket(socketUrl(url), protocol, { headers });
  const heard: RawSocket['heard'] = [];
  let close: { code: number; reason: string } | undefined;
  socket.on('message', (data) => heard.push(JSON.parse(String(data))));
  socket.on('close', (code, reason) => {
    close = { code, reason: String(reason) };
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (chunk) => (body += chunk));
      response.on('end', () =>
        reject(Object.assign(new Error('refused'), { status: response.statusCode, body })),
      );
    });
    socket.once('error', reject);
  });
  const raw: RawSocket = {
    socket,
    heard,
    say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    closed: () => until(() => close, { what: 'the close' }),
    hears: async (type, id) => {
      const message = await until(
        () => heard.find((one) => one.type === type && (id === undefined || one.id === id)),
        {
          what: `${type} ${id ?? ''}`,
        },
      );
      return message.payload;
    },
    async init(token) {
      raw.say({
        type: 'connection_init',
        ...(token !== undefined && { payload: { authorization: `Bearer ${token}` } }),
      });
      await raw.hears('connection_ack');
    },
  };
  return raw;
}

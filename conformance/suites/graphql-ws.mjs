import assert from 'node:assert/strict';
import { once } from 'node:events';
import { CloseCode, createClient, GRAPHQL_TRANSPORT_WS_PROTOCOL, MessageType } from 'graphql-ws';
import WebSocket from 'ws';
import { until } from '../lib/until.mjs';

const ADDED = 'subscription { usageRecorded { id } }';

/** A socket that says what it is told to, in the protocol's messages. */
async function rawSocket(url, protocol = GRAPHQL_TRANSPORT_WS_PROTOCOL) {
  const socket = new WebSocket(url, protocol);
  const heard = [];
  let closed;
  socket.on('message', (data) => heard.push(JSON.parse(String(data))));
  socket.on('close', (code) => {
    closed = code;
  });
  await once(socket, 'open');
  return {
    heard,
    say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    hears: (type) => until(type, () => heard.find((message) => message.type === type)),
    closed: () => until('the close', () => closed),
    end: () => socket.terminate(),
  };
}

export async function run(checks, product) {
  const url = `${product.url.replace('http', 'ws')}/graphql`;
  const authorization = `Bearer ${product.token}`;
  const init = { type: MessageType.ConnectionInit, payload: { authorization } };
  const subscribe = (id, query = ADDED) => ({ id, type: MessageType.Subscribe, payload: { query } });
  const onSocket = (act, protocol) => async () => {
    const socket = await rawSocket(url, protocol);
    try {
      await act(socket);
    } finally {
      socket.end();
    }
  };
  const acknowledged = (act) =>
    onSocket(async (socket) => {
      socket.say(init);
      await socket.hears(MessageType.ConnectionAck);
      await act(socket);
    });
  const closes = (messages, code) =>
    onSocket(async (socket) => {
      for (const message of messages) socket.say(message);
      assert.equal(await socket.closed(), code);
    });

  await checks.check(
    'acknowledges a connection',
    acknowledged(async () => undefined),
  );
  await checks.check(
    'closes with 4408 without connection_init',
    closes([], CloseCode.ConnectionInitialisationTimeout),
  );
  await checks.check(
    'closes with 4401 a subscription before connection_init',
    closes([subscribe('1')], CloseCode.Unauthorized),
  );
  await checks.check(
    'closes with 4429 a second connection_init',
    closes([init, init], CloseCode.TooManyInitialisationRequests),
  );
  await checks.check(
    'closes with 4403 where the credentials are worthless',
    closes([{ ...init, payload: { authorization: 'Bearer nonsense' } }], CloseCode.Forbidden),
  );
  await checks.check('closes with 4400 what is no message', closes(['{'], CloseCode.BadRequest));
  await checks.check('closes with 4400 an unknown type', closes([{ type: 'hello' }], CloseCode.BadRequest));
  await checks.check(
    'closes with 4406 without its subprotocol',
    onSocket(async (socket) => assert.equal(await socket.closed(), CloseCode.SubprotocolNotAcceptable), []),
  );
  await checks.check(
    'closes with 4409 a duplicate id',
    acknowledged(async (socket) => {
      socket.say(subscribe('same'));
      socket.say(subscribe('same'));
      assert.equal(await socket.closed(), CloseCode.SubscriberAlreadyExists);
    }),
  );
  await checks.check(
    'answers ping with pong, payload and all',
    acknowledged(async (socket) => {
      socket.say({ type: MessageType.Ping, payload: { beat: 1 } });
      assert.deepEqual((await socket.hears(MessageType.Pong)).payload, { beat: 1 });
    }),
  );
  await checks.check(
    'tells an error of a document, and the connection lives on',
    acknowledged(async (socket) => {
      socket.say(subscribe('bad', 'subscription { nothing }'));
      const { id, payload } = await socket.hears(MessageType.Error);
      assert.deepEqual([id, Array.isArray(payload)], ['bad', true]);
      socket.say({ type: MessageType.Ping });
      await socket.hears(MessageType.Pong);
    }),
  );
  await checks.check(
    'takes an id again once its operation is complete',
    acknowledged(async (socket) => {
      socket.say(subscribe('again'));
      socket.say({ id: 'again', type: MessageType.Complete });
      socket.say(subscribe('again', '{ viewer { id } }'));
      assert.ok((await socket.hears(MessageType.Next)).payload.data.viewer.id);
    }),
  );

  const client = createClient({
    url,
    webSocketImpl: WebSocket,
    connectionParams: { authorization },
    lazy: true,
  });
  await checks.check('its client: a query', async () => {
    for await (const { data } of client.iterate({ query: '{ viewer { email } }' })) {
      assert.equal(data.viewer.email, product.user.email);
    }
  });
  await checks.check('its client: a call shows up in a subscription', async () => {
    const events = client.iterate({ query: ADDED });
    const first = events.next();
    const call = () =>
      fetch(`${product.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${product.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gateway/fast', messages: [{ role: 'user', content: 'Hello' }] }),
      });
    assert.equal((await call()).status, 200);
    assert.ok((await first).value.data.usageRecorded.id);
    await events.return();
  });
  await client.dispose();
}

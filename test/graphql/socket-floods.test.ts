import { promptsApi } from '../prompts/support.js';
import { call, signUp } from '../support/api.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { type RawSocket, rawSocket } from './raw-socket.js';

const TOO_MANY = { code: 4429, reason: 'Too many messages' };
const MANY = 5_000;

describe('a client that sends messages without end over a WebSocket of GraphQL', () => {
  const suite = usePlatform();
  const open: RawSocket[] = [];
  const platforms: TestPlatform[] = [];
  afterEach(async () => {
    for (const { socket } of open.splice(0)) socket.terminate();
    for (const platform of platforms.splice(0)) await platform.close();
  });

  const connect = async (url = suite.url): Promise<RawSocket & { pongs(): number }> => {
    const socket = await rawSocket(url);
    open.push(socket);
    let pongs = 0;
    socket.socket.on('pong', () => pongs++);
    return { ...socket, pongs: () => pongs };
  };
  const withBounds = async (
    socketBounds: Parameters<typeof startTestPlatform>[1] & object,
  ): Promise<TestPlatform> => {
    const platform = await startTestPlatform(suite.db, socketBounds);
    platforms.push(platform);
    return platform;
  };

  test('without a session is closed after 20, whatever they are', async () => {
    const frames = await connect();
    for (let n = 0; n < MANY; n++) frames.socket.ping();
    expect(await frames.closed()).toEqual(TOO_MANY);
    expect(frames.pongs()).toBe(20);
    const messages = await connect();
    for (let n = 0; n < MANY; n++) messages.say({ type: 'ping' });
    expect(await messages.closed()).toEqual(TOO_MANY);
    expect(messages.heard.length).toBeLessThanOrEqual(20);
  });

  test('with a session is closed after 1,000 between two of our pings', async () => {
    const { token } = await signUp(suite.url);
    const socket = await connect();
    await socket.init(token);
    for (let n = 0; n < MANY; n++) socket.socket.ping();
    expect(await socket.closed()).toEqual(TOO_MANY);
    expect(socket.pongs()).toBe(999);
  });

  test('is closed sooner the larger the messages are', async () => {
    // Counts 15.
    const ping = { type: 'ping', payload: { text: 'x'.repeat(60_000) } };
    const pongsOf = ({ heard }: RawSocket): number => heard.filter(({ type }) => type === 'pong').length;
    const stranger = await connect();
    for (let n = 0; n < 3; n++) stranger.say(ping);
    expect(await stranger.closed()).toEqual(TOO_MANY);
    expect(pongsOf(stranger)).toBeLessThanOrEqual(1);
    const { url } = await withBounds({ socketBounds: { messages: 40 } });
    const { token } = await signUp(url);
    const socket = await connect(url);
    await socket.init(token);
    for (let n = 0; n < 4; n++) socket.say(ping);
    expect(await socket.closed()).toEqual(TOO_MANY);
    expect(pongsOf(socket)).toBeLessThanOrEqual(2);
  });

  test('stays connected if it sends as many, but slower', async () => {
    const { url } = await withBounds({ socketBounds: { messages: 10, pingIntervalMs: 500 } });
    const { token } = await signUp(url);
    const socket = await connect(url);
    let beats = 0;
    socket.socket.on('ping', () => beats++);
    await socket.init(token);
    for (let n = 0; n < 5; n++) {
      const before = beats;
      await until(() => beats > before);
      for (let m = 0; m < 4; m++) socket.socket.ping();
      await until(() => socket.pongs() === 4 * (n + 1));
    }
    expect(socket.socket.readyState).toBe(socket.socket.OPEN);
  });

  /** Asks for two megabytes so many times, and reads nothing. All are let in before the first has answered. */
  const askForMuch = async (url: string, times: number): Promise<RawSocket> => {
    const { token } = await signUp(url);
    const prompts = promptsApi(
      () => url,
      () => token,
    );
    const { id } = await prompts.create({
      content: '{{ text }}'.repeat(100),
      variables: [{ name: 'text', default: '"'.repeat(10_000) }],
    });
    const socket = await connect(url);
    await socket.init(token);
    socket.socket.pause();
    const query = `{ viewer { prompt(id: "${id}") { rendered { renderedContent } } } }`;
    for (let n = 0; n < times; n++) socket.say({ id: `${n}`, type: 'subscribe', payload: { query } });
    return socket;
  };

  test('gets everything if it has much to read for a moment, and reads it', async () => {
    const { url, app } = await withBounds({});
    const socket = await askForMuch(url, 3);
    const [served] = app.websocketServer.clients;
    await until(() => served!.bufferedAmount > 2 ** 20, { what: 'something to be left unread' });
    socket.say({ type: 'ping' });
    // By the time of this answer the ping has arrived.
    await call(url, 'GET', '/api/plans');
    socket.socket.resume();
    for (const id of ['0', '1', '2']) await socket.hears('complete', id);
    await socket.hears('pong');
    expect(JSON.stringify(socket.heard).length).toBeGreaterThan(6_000_000);
  });

  test('is cut off if it requests much in one go and reads nothing', async () => {
    const { url, app } = await withBounds({});
    await askForMuch(url, 20);
    await until(() => app.websocketServer.clients.size === 0, {
      what: 'the connection to be cut',
      timeoutMs: 10_000,
    });
  });

  test('is cut off if it ignores that it was closed', async () => {
    const { url, app } = await withBounds({ socketBounds: { initTimeoutMs: 50 } });
    const socket = await connect(url);
    socket.socket.pause();
    await until(() => app.websocketServer.clients.size === 0, {
      what: 'the connection to be cut',
      timeoutMs: 10_000,
    });
  });
});

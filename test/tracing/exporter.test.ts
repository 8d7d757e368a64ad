import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '../../src/lib/logger.js';
import { createTracing, type TracingOptions } from '../../src/lib/tracing/create-tracing.js';
import type { Tracing } from '../../src/lib/tracing/tracing.js';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp.js';

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}`;

describe('tracing of a process', () => {
  let receiver: OtlpReceiver;
  let server: Server;
  let tracing: Tracing;
  /** Headers that handlers would pass on. */
  let passed: string[];

  beforeEach(async () => {
    receiver = await startOtlpReceiver();
    passed = [];
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    await tracing.close();
    await receiver.close();
  });

  const start = async (options: Partial<TracingOptions> = {}): Promise<string> => {
    tracing = createTracing({
      endpoint: receiver.url,
      headers: { 'x-token': 'secret' },
      serviceName: 'gateway-test',
      log: createLogger('test', 'silent'),
      ratio: 1,
      isEntry: false,
      ...options,
    });
    server = createServer((request, response) => {
      const span = tracing.of(request);
      if (span) passed.push(span.traceparent);
      span?.note({ 'http.route': '/things', count: 3, share: 0.5, ok: true, none: null });
      const step = span?.child('step');
      step?.end();
      response.writeHead(request.url?.startsWith('/broken') ? 500 : 200).end();
    });
    tracing.watch(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const ask = async (url: string, headers: Record<string, string> = {}) =>
    (await fetch(url, { headers })).text();

  test('sends a span for each request and its steps, within the trace of the request', async () => {
    const url = await start();
    await ask(`${url}/broken?secret=1`, { traceparent: `${PARENT}-01` });
    await tracing.close();
    expect(receiver.headers[0]).toMatchObject({ 'x-token': 'secret', 'content-type': 'application/json' });
    const [step, request] = receiver.spans;
    expect(request).toMatchObject({
      service: 'gateway-test',
      name: 'GET /things',
      kind: 2,
      traceId: 'a'.repeat(32),
      parentSpanId: 'b'.repeat(16),
      status: { code: 2 },
      attributes: {
        'http.request.method': 'GET',
        'http.response.status_code': '500',
        count: '3',
        share: 0.5,
        ok: true,
      },
    });
    expect(step).toMatchObject({ name: 'step', kind: 3, parentSpanId: request!.spanId });
    expect(passed).toEqual([`00-${'a'.repeat(32)}-${request!.spanId}-01`]);
    expect(BigInt(request!.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(request!.startTimeUnixNano));
    expect(Math.abs(Number(BigInt(request!.endTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(60_000);
    expect(receiver.bodies.join()).not.toContain('secret=1');
  });

  test('keeps the configured share of traces, and passes its decision on', async () => {
    const url = await start({ ratio: 0 });
    await ask(url);
    await ask(url, { traceparent: `${PARENT}-01` });
    await ask(url, { traceparent: `${PARENT}-00` });
    await tracing.close();
    expect(passed.map((header) => header.slice(-2))).toEqual(['00', '01', '00']);
    expect(receiver.spans.map(({ name }) => name)).toEqual(['step', 'GET /things']);
  });

  test("doesn't let a request from outside raise the share", async () => {
    const url = await start({ ratio: 0, isEntry: true });
    await ask(url, { traceparent: `${PARENT}-01` });
    await tracing.close();
    expect(passed).toEqual([expect.stringMatching(/-00$/)]);
    expect(receiver.spans).toEqual([]);
  });

  test('ignores health checks', async () => {
    const url = await start();
    await ask(`${url}/health/ready`);
    await tracing.close();
    expect([passed, receiver.spans]).toEqual([[], []]);
  });

  test('drops spans that the receiver refuses, and never delays a request', async () => {
    const url = await start();
    receiver.answer(503);
    await ask(url);
    await tracing.close();
    expect(receiver.bodies).toHaveLength(1);
    expect(receiver.spans).toEqual([]);
  });
});

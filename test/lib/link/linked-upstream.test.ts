import { Socket } from 'node:net';
import { WINDOW_BYTES } from '../../../src/lib/link/frames.js';
import { Link, type LinkOwner } from '../../../src/lib/link/link.js';
import { LinkedUpstream, type LinkTimes } from '../../../src/lib/link/linked-upstream.js';
import { readOpen } from '../../../src/lib/link/open-frame.js';
import { UpstreamClient } from '../../../src/lib/upstream/client.js';
import { UpstreamTimeoutError } from '../../../src/lib/upstream/upstream-handler.js';
import { callHead, Heard } from '../../support/heard.js';
import { frame, headFrame, type LinkEnd, startLinkProxy } from '../../support/link-end.js';
import { until } from '../../support/until.js';

const BODY = Buffer.from('{"model":"m"}');

describe('calls over a link', () => {
  let proxy: Awaited<ReturnType<typeof startLinkProxy>>;
  let upstream: LinkedUpstream;
  beforeEach(async () => {
    proxy = await startLinkProxy();
  });
  afterEach(async () => {
    upstream.destroy();
    await proxy.close();
  });

  function make(times: Partial<LinkTimes> = {}): LinkedUpstream {
    const url = new URL(proxy.url);
    const client = new UpstreamClient({ url, connectTimeoutMs: 5_000 });
    upstream = new LinkedUpstream({
      ...{ url, client, times },
      basePath: '',
      masterKey: 'sk-master',
      timeoutMs: 5_000,
    });
    return upstream;
  }

  /** With a link that stands. */
  async function linked(times?: Partial<LinkTimes>): Promise<LinkEnd> {
    make(times).ask();
    // A link may be short-lived.
    await until(() => upstream.linked, { timeoutMs: 5_000, intervalMs: 5 });
    return proxy.ends[0]!;
  }

  function call(heard = new Heard(), body = BODY): Heard {
    heard.carrier = upstream.call(callHead(), body, heard);
    return heard;
  }

  test('bring what the proxy needs to know, and get the answer', async () => {
    const end = await linked();
    const heard = call();
    const [opened] = await end.got('open');
    expect(readOpen(opened!.payload)).toEqual({
      endpoint: 'chat',
      authorization: 'Bearer sk-virtual-of-the-tests',
      traceparent: undefined,
      bodyBytes: BODY.length,
      body: BODY,
    });
    end.send(headFrame(0), frame('data', 0, 'answ'), frame('data', 0, 'er'), frame('end', 0));
    await heard.done();
    expect([heard.head?.status, heard.body.toString(), heard.ends]).toEqual([200, 'answer', 1]);
  });

  test('of one turn of the event loop leave in one write', async () => {
    const end = await linked();
    let reads = 0;
    end.socket.on('data', () => reads++);
    for (let i = 0; i < 20; i++) call();
    await end.got('open', 20);
    expect(reads).toBe(1);
  });

  test('go over HTTP until the link stands, and none waits for it', async () => {
    make();
    const first = call();
    await first.done();
    expect(first.body.toString()).toBe('over HTTP');
    await until(() => upstream.linked, { timeoutMs: 5_000 });
    const second = call();
    await proxy.ends[0]!.got('open');
    expect([proxy.overHttp, second.over]).toEqual([1, false]);
  });

  test('go over HTTP where the upstream knows no link, which is asked again much later', async () => {
    proxy.grants = false;
    make({ refusedMs: 300 });
    const since = performance.now();
    for (let i = 0; i < 3; i++) expect((await call().done()).body.toString()).toBe('over HTTP');
    await until(() => proxy.asked > 0);
    proxy.grants = true;
    await until(() => {
      if (!upstream.linked) call();
      return upstream.linked;
    });
    expect(proxy.asked).toBeGreaterThan(1);
    expect(proxy.asked).toBeLessThanOrEqual(1 + (performance.now() - since) / 300);
  });

  test('go over HTTP where the upstream is away, and it is asked again soon', async () => {
    Object.assign(proxy, { grants: false, refusal: '503 Service Unavailable' });
    make({ failedMs: 1 });
    await until(() => {
      call();
      return proxy.asked > 2;
    });
    proxy.grants = true;
    await until(() => {
      if (!upstream.linked) call();
      return upstream.linked;
    });
  });

  test('ask an upstream that stays away less and less often', async () => {
    Object.assign(proxy, { grants: false, refusal: '503 Service Unavailable' });
    make({ failedMs: 20 });
    const since = performance.now();
    await until(
      () => {
        call();
        return proxy.asked > 4;
      },
      { intervalMs: 5 },
    );
    // 20, 40, 80 and 160 ms.
    expect(performance.now() - since).toBeGreaterThan(295);
  });

  test('fail with the link, before the first byte and after it, and later ones go elsewhere', async () => {
    const end = await linked();
    const [unanswered, begun] = [call(), call()];
    await end.got('open', 2);
    end.send(headFrame(1), frame('data', 1, 'x'));
    await until(() => begun.bytes === 1);
    proxy.grants = false;
    end.socket.resetAndDestroy();
    for (const heard of [unanswered, begun]) expect((await heard.done()).errors).toHaveLength(1);
    expect((await call().done()).body.toString()).toBe('over HTTP');
  });

  test('that are not sent yet when the link breaks go over another connection', async () => {
    await linked();
    const carried: Buffer[] = [];
    const owner: LinkOwner = {
      lookBy: () => undefined,
      retired: () => undefined,
      gone: () => undefined,
      carry(_head, body, handler) {
        carried.push(body);
        expect(handler).toBe(heard);
        return { pause: () => undefined, resume: () => undefined, abort: () => aborted++ };
      },
    };
    let aborted = 0;
    const heard = new Heard();
    const link = new Link(new Socket(), owner, 5_000);
    const carrier = link.take(callHead(), BODY, heard)!;
    link.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect([carried, heard.errors]).toEqual([[BODY], []]);
    // Orders go where the call went.
    carrier.abort(heard);
    expect(aborted).toBe(1);
  });

  test('that is cancelled before it is sent ends a link that takes no more calls, if it was the last one', async () => {
    let gone = 0;
    const owner: LinkOwner = {
      lookBy: () => undefined,
      retired: () => undefined,
      gone: () => gone++,
      carry: () => {
        throw new Error('it was cancelled');
      },
    };
    make();
    const heard = new Heard();
    const link = new Link(new Socket(), owner, 5_000);
    const carrier = link.take(callHead(), BODY, heard)!;
    link.retire();
    carrier.abort(heard);
    await new Promise((resolve) => setImmediate(resolve));
    expect([gone, heard.errors]).toEqual([1, []]);
  });

  test.each([
    ['frames of calls that there are none of', () => frame('data', 9, 'x')],
    ['an unknown kind', () => frame(99, 0)],
    ['data before a head', () => frame('data', 0, 'x')],
    ['an end before a head', () => frame('end', 0)],
    ['two heads', () => Buffer.concat([headFrame(0), headFrame(0)])],
    ['a head that is none', () => frame('head', 0, 'xxxxxxxxxxx')],
    ['a length that no frame has', () => Buffer.alloc(64, 0xff)],
  ])('end with %s', async (_what, bytes) => {
    const end = await linked();
    const heard = call();
    await end.got('open');
    end.send(bytes());
    await heard.done();
    expect(heard.errors).toHaveLength(1);
    await until(() => end.closed);
    expect((await call().done()).body.toString()).toBe('over HTTP');
  });

  test('are cut where the proxy cuts them', async () => {
    const end = await linked();
    const heard = call();
    await end.got('open');
    end.send(headFrame(0), frame('data', 0, 'x'), frame('cut', 0));
    expect((await heard.done()).errors[0]?.message).toBe('the response was cut off');
  });

  test('keep their number until the proxy is done with it', async () => {
    const end = await linked();
    const left = call();
    await end.got('open');
    left.carrier!.abort(left);
    await end.got('cancel');
    const next = call();
    // What crosses the cancellation reaches nobody.
    end.send(headFrame(0), frame('data', 0, 'of the first'));
    expect((await end.got('open', 2)).map(({ id }) => id)).toEqual([0, 1]);
    end.send(frame('cut', 0), headFrame(1), frame('data', 1, 'of the second'), frame('end', 1));
    expect((await next.done()).body.toString()).toBe('of the second');
    expect([left.head, left.bytes, left.over]).toEqual([undefined, 0, false]);
    call();
    call();
    expect(
      (await end.got('open', 4))
        .slice(2)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([0, 1]);
  });

  test('that are given up before they are sent are not sent', async () => {
    const end = await linked();
    const left = call();
    left.carrier!.abort(left);
    call();
    expect(await end.got('open')).toHaveLength(1);
    expect(end.of('cancel')).toEqual([]);
  });

  test('are late one by one, and the proxy is told', async () => {
    const end = await linked();
    const hurry = call(new Heard({ headersTimeoutMs: 50, bodyTimeoutMs: 20_000 }));
    const slow = call(new Heard({ headersTimeoutMs: 20_000, bodyTimeoutMs: 50 }));
    const patient = call();
    await hurry.done();
    expect(hurry.errors[0]).toBeInstanceOf(UpstreamTimeoutError);
    await end.got('open', 3);
    expect((await end.got('cancel')).map(({ id }) => id)).toEqual([0]);
    end.send(frame('cut', 0), headFrame(1), frame('data', 1, 'x'));
    await slow.done();
    expect(slow.errors[0]).toBeInstanceOf(UpstreamTimeoutError);
    end.send(headFrame(2), frame('end', 2));
    expect((await patient.done()).ends).toBe(1);
  });

  test('get no more than the window while they are paused, and nobody else waits for them', async () => {
    const end = await linked();
    const slow = call();
    slow.pausing = true;
    const other = call();
    await end.got('open', 2);
    const piece = 'x'.repeat(16 * 1024);
    const pieces = WINDOW_BYTES / piece.length;
    end.send(headFrame(0), ...Array.from({ length: pieces }, () => frame('data', 0, piece)), frame('end', 0));
    end.send(headFrame(1), frame('data', 1, 'ok'), frame('end', 1));
    await other.done();
    expect([slow.pieces.length, slow.over, end.of('credit')]).toEqual([1, false, []]);
    slow.pausing = false;
    slow.carrier!.resume(slow);
    await slow.done();
    expect([slow.bytes, slow.ends]).toEqual([WINDOW_BYTES, 1]);
  });

  test('give credit for what was read, and end a link that sends more than it has', async () => {
    const end = await linked();
    const heard = call();
    await end.got('open');
    const piece = frame('data', 0, 'x'.repeat(32 * 1024));
    end.send(headFrame(0), piece, piece);
    expect((await end.got('credit'))[0]!.payload.readUInt32BE(0)).toBe(64 * 1024);
    heard.pausing = true;
    end.send(piece, piece, piece, piece, piece, piece);
    await until(() => end.closed);
    expect(heard.errors).toHaveLength(1);
  });

  test('send large bodies in pieces, in turns', async () => {
    const end = await linked();
    // More than the system takes on the way.
    const large = Buffer.alloc(10 * 1024 * 1024, 'x');
    end.socket.pause();
    call(new Heard(), large);
    call(new Heard(), large);
    call();
    await new Promise((resolve) => setImmediate(resolve));
    end.socket.resume();
    const sent = (id: number) =>
      end.seen
        .filter((one) => one.id === id && one.kind !== 'credit')
        .map(({ kind, payload }) => (kind === 'open' ? readOpen(payload).body : payload));
    await until(() => [0, 1].every((id) => Buffer.concat(sent(id)).length === large.length));
    expect(Buffer.concat(sent(1)).equals(large)).toBe(true);
    const order = end.of('body').map(({ id }) => id);
    expect(order.indexOf(1)).toBeLessThan(order.lastIndexOf(0));
    // The small call didn't wait for the large ones.
    const small = end.seen.findIndex(({ kind, id }) => kind === 'open' && id === 2);
    expect(small).toBeLessThan(end.seen.length / 2);
  });

  test('end where the proxy drains: those under way go on, new ones go elsewhere, and the link is closed', async () => {
    const end = await linked();
    const heard = call();
    await end.got('open');
    proxy.grants = false;
    end.send(frame('drain', 0));
    await until(() => !upstream.linked);
    expect((await call().done()).body.toString()).toBe('over HTTP');
    end.send(headFrame(0), frame('data', 0, 'whole'), frame('end', 0));
    expect((await heard.done()).body.toString()).toBe('whole');
    await until(() => end.closed);
  });

  test('leave a link whose proxy says nothing any more; what is under way there goes on', async () => {
    const end = await linked({ silenceMs: 50 });
    const heard = call();
    await end.got('ping');
    proxy.grants = false;
    await until(() => !upstream.linked);
    expect((await call().done()).body.toString()).toBe('over HTTP');
    end.send(headFrame(0), frame('data', 0, 'late'), frame('end', 0));
    expect((await heard.done()).body.toString()).toBe('late');
  });

  test('stay on a link whose proxy answers when it is asked', async () => {
    const end = await linked({ silenceMs: 50 });
    let answered = 0;
    // As soon as it is asked: it has no longer than it was silent.
    const answer = (): void => {
      for (; answered < end.of('ping').length; answered++) end.send(frame('pong', 0));
    };
    end.socket.on('data', answer);
    answer();
    await end.got('ping', 3);
    expect(upstream.linked).toBe(true);
  });

  test('move to a new link now and then, and the old one ends with its last call', async () => {
    // A link that is only silent would end, too.
    const end = await linked({ renewMs: 1, silenceMs: 60_000 });
    const heard = call();
    await end.got('open');
    await until(() => {
      call();
      return proxy.ends.length > 1;
    });
    const next = proxy.ends[1]!;
    call();
    await next.got('open');
    for (const { id } of end.of('open')) end.send(headFrame(id), frame('data', id, 'x'), frame('end', id));
    expect((await heard.done()).ends).toBe(1);
    await until(() => end.closed);
  });
});

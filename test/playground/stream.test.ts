import { codesOf, dataOf, operate, socketClient } from '../graphql/support.js';
import { call, signUp } from '../support/api.js';
import { ownTime } from '../support/own-time.js';
import { useStack } from '../support/stack-suite.js';
import { until } from '../support/until.js';
import {
  ask,
  byModel,
  CODE,
  FAST,
  PRO,
  QWEN,
  type Session,
  START,
  type StartAnswer,
  type Watched,
  watch,
} from './support.js';

const CANCEL = `mutation ($input: CancelPlaygroundRunsInput!) {
  cancelPlaygroundRuns(input: $input) { session { id } } }`;

describe('runs that are followed over a socket', () => {
  const suite = useStack();
  let token: string;

  beforeAll(async () => {
    ({ token } = await suite.signUp('team'));
  });

  const start = async (models: readonly string[], prompt: string) => {
    const variables = { input: { models, prompt } };
    const { runPlayground } = await dataOf<StartAnswer>(suite.url, START, { token, variables });
    return runPlayground.session;
  };
  /** Through the edge, as everybody comes. */
  const client = (who = token) => socketClient(suite.url, { token: who });
  const ended = (one: Watched) => until(() => one.followed.ended, { what: 'the subscription to end' });
  const simulator = () => suite.stack.router.simulator.stats();

  test('the mutation returns at once, and the answers come in pieces with time to first token and final metrics', async () => {
    const socket = client();
    const session = await start([FAST, QWEN], 'Tell me. [[sim words=100 ttft_ms=60 chunk_ms=30]]');
    expect(session.runs.map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
    const watched = watch(socket, session.id);
    await ended(watched);
    expect(watched.followed.error).toBeUndefined();
    const ends = watched.ends();
    for (const { id, modelPublicName } of session.runs) {
      const mine = watched.events().filter(({ runId }) => runId === id);
      const deltas = mine.filter(({ delta }) => delta !== '');
      expect(deltas.length).toBeGreaterThan(3);
      // The first token is sent when it arrives, not at the end.
      expect(deltas[0]!.run).toBeNull();
      expect(deltas[0]!.ttftMs).toBeGreaterThanOrEqual(50);
      const run = ends[modelPublicName]!;
      expect(run).toMatchObject({ id, status: 'SUCCESS', costUsd: '0.000000', ttftMs: deltas[0]!.ttftMs });
      expect(run.outputTokens).toBeGreaterThan(5);
      expect(Number(run.listCostUsd)).toBeGreaterThan(0);
      expect(watched.texts()[id]).toBe(run.responseContent);
    }
    await socket.dispose();
  });

  test('several followers of several runs, one late and one reconnecting, end with the same text', async () => {
    const sockets = [client(), client(), client()];
    const sessions = [
      await start([FAST, QWEN, PRO], 'A long one. [[sim words=60 ttft_ms=20 chunk_ms=20]]'),
      await start([PRO, FAST], 'Another. [[sim words=60 ttft_ms=20 chunk_ms=20]]'),
    ];
    const early = sockets.slice(0, 2).flatMap((socket) => sessions.map(({ id }) => watch(socket, id)));
    const half = (one: Watched) => until(() => Object.values(one.texts()).some((text) => text.length > 60));
    await Promise.all(early.map(half));
    // Its connection is lost in the middle, and it comes back to what it missed.
    await sockets[1]!.dispose();
    const late = [sockets[2]!, client()].flatMap((socket) => sessions.map(({ id }) => watch(socket, id)));
    const whole = [...early.slice(0, 2), ...late];
    await Promise.all(whole.map(ended));
    for (const one of whole) {
      const first = one.events()[0]!;
      expect(first.offset).toBe(0);
      const { id, runs } = sessions.find((session) => session.id === first.sessionId)!;
      expect(Object.keys(one.ends())).toHaveLength(runs.length);
      const same = whole.filter((other) => other.events()[0]!.sessionId === id);
      for (const other of same) expect(one.texts()).toEqual(other.texts());
      for (const run of Object.values(one.ends())) expect(one.texts()[run.id]).toBe(run.responseContent);
    }
    // Who comes late got what it missed in one piece.
    expect(late[0]!.events()[0]!.delta.length).toBeGreaterThan(30);
    for (const socket of sockets) await socket.dispose();
  });

  test('a finished session is sent completely, and the subscription ends', async () => {
    const { body } = await ask(suite.url, token, [FAST, QWEN], 'Done. [[sim words=5]]');
    const socket = client();
    const watched = watch(socket, body.id);
    await ended(watched);
    expect(watched.events()).toHaveLength(2);
    for (const { id, response_content: text } of body.runs) expect(watched.texts()[id]).toBe(text);
    await socket.dispose();
  });

  test('models that fail in the middle end with the text received, and cost nothing', async () => {
    const session = await start([FAST, QWEN], 'Break. [[sim words=20 abort_after=4 chunk_ms=10]]');
    const socket = client();
    const watched = watch(socket, session.id);
    await ended(watched);
    expect(Object.keys(watched.ends()).toSorted()).toEqual([FAST, QWEN].toSorted());
    for (const run of Object.values(watched.ends())) {
      expect(run).toMatchObject({ status: 'ERROR', errorCode: 'upstream_error', costUsd: '0.000000' });
      expect(watched.texts()[run.id]).toBe(run.responseContent);
    }
    await socket.dispose();
  });

  test('cancelling one run ends its call upstream within a second, and no other', async () => {
    const socket = client();
    const before = simulator().abandoned;
    const session = await start([FAST, QWEN], 'Slow. [[sim words=200 ttft_ms=20 chunk_ms=30]]');
    const watched = watch(socket, session.id);
    await until(() => Object.values(watched.texts()).filter((text) => text.length > 20).length === 2);
    const [first, second] = session.runs;
    const time = ownTime();
    const asked = time.now();
    await dataOf(suite.url, CANCEL, {
      token,
      variables: { input: { sessionId: session.id, runId: first!.id } },
    });
    await until(() => simulator().abandoned === before + 1, { intervalMs: 5 });
    expect(time.now() - asked).toBeLessThan(1_000);
    time.stop();
    await until(() => watched.ends()[first!.modelPublicName]);
    const cancelled = watched.ends()[first!.modelPublicName]!;
    expect(cancelled).toMatchObject({ status: 'CANCELLED', errorCode: null });
    expect(watched.texts()[first!.id]).toBe(cancelled.responseContent);
    expect(cancelled.responseContent!.length).toBeGreaterThan(20);
    expect(cancelled.outputTokens).toBeGreaterThan(0);
    const length = watched.texts()[second!.id]!.length;
    await until(() => watched.texts()[second!.id]!.length > length, { what: 'the other to go on' });
    await dataOf(suite.url, CANCEL, { token, variables: { input: { sessionId: session.id } } });
    await ended(watched);
    expect(watched.ends()[second!.modelPublicName]!.status).toBe('CANCELLED');
    await until(() => simulator().abandoned === before + 2, { what: 'the other call to end' });
    await socket.dispose();
  });

  test('a run that waits for its first token can be cancelled as well, with nothing generated', async () => {
    const before = simulator().abandoned;
    const session = await start([FAST], 'Never. [[sim delay_ms=600000]]');
    await until(() => simulator().running > 0);
    await dataOf(suite.url, CANCEL, { token, variables: { input: { sessionId: session.id } } });
    const socket = client();
    const watched = watch(socket, session.id);
    await ended(watched);
    expect(watched.ends()[FAST]).toMatchObject({
      status: 'CANCELLED',
      responseContent: null,
      outputTokens: 0,
    });
    await until(() => simulator().abandoned === before + 1);
    await socket.dispose();
  });

  test('deleting a session ends its calls and its subscriptions', async () => {
    const before = simulator().abandoned;
    const session = await start([FAST, QWEN], 'Slow. [[sim words=200 ttft_ms=20 chunk_ms=30]]');
    const socket = client();
    const watched = watch(socket, session.id);
    await until(() => Object.values(watched.texts()).filter((text) => text !== '').length === 2);
    const gone = `mutation ($input: DeletePlaygroundSessionInput!) {
      deletePlaygroundSession(input: $input) { deletedPlaygroundSessionId } }`;
    await dataOf(suite.url, gone, { token, variables: { input: { sessionId: session.id } } });
    await until(() => simulator().abandoned === before + 2);
    await ended(watched);
    // What was deleted wasn't lost: it was cancelled.
    for (const model of [FAST, QWEN])
      expect(watched.ends()[model]).toMatchObject({ status: 'CANCELLED', errorMessage: null });
    await socket.dispose();
  });

  test("nobody follows, cancels or sees another account's session", async () => {
    const session = await start([FAST], 'Mine. [[sim words=3]]');
    const { token: other } = await signUp(suite.url);
    const socket = client(other);
    const watched = watch(socket, session.id);
    await until(() => watched.followed.results.length > 0 || watched.followed.ended);
    expect(watched.events()).toEqual([]);
    const refusal = watched.followed.error ?? watched.followed.results[0]!.errors;
    expect(refusal).toEqual([expect.objectContaining({ extensions: { code: 'not_found' } })]);
    const variables = { input: { sessionId: session.id } };
    expect(codesOf(await operate(suite.url, CANCEL, { token: other, variables }))).toEqual(['not_found']);
    const seen = await operate(
      suite.url,
      `{ viewer { playgroundSession(id: "${session.id}") { prompt } } }`,
      {
        token: other,
      },
    );
    expect([seen.body.data, codesOf(seen)]).toEqual([{ viewer: { playgroundSession: null } }, ['not_found']]);
    await socket.dispose();
  });

  test('an account follows 20 sessions at once, independently of other accounts', async () => {
    const session = await start([FAST], 'Slow. [[sim words=500 ttft_ms=10 chunk_ms=50]]');
    const sockets = [client(), client()];
    const twenty = sockets.flatMap((socket) => Array.from({ length: 10 }, () => watch(socket, session.id)));
    await until(() => twenty.every((one) => one.events().length > 0));
    const refused = watch(sockets[0]!, session.id);
    await until(() => refused.followed.ended || refused.followed.results.length > 0);
    const refusal = refused.followed.error ?? refused.followed.results[0]!.errors;
    expect(refusal).toEqual([expect.objectContaining({ extensions: { code: 'rate_limit_exceeded' } })]);
    // One that leaves makes room.
    twenty[0]!.followed.leave();
    await until(async () => {
      const next = watch(sockets[1]!, session.id);
      await until(() => next.events().length > 0 || next.followed.ended);
      return next.events().length > 0;
    });
    await dataOf(suite.url, CANCEL, { token, variables: { input: { sessionId: session.id } } });
    await Promise.all(twenty.slice(1).map(ended));
    for (const socket of sockets) await socket.dispose();
  });

  test('an account has 32 runs in progress and a few waiting requests, and leaves room for others', async () => {
    const { token: greedy } = await suite.signUp('team');
    const never = 'Never. [[sim words=2000 ttft_ms=10 chunk_ms=200]]';
    const waiting = Array.from({ length: 7 }, () => ask(suite.url, greedy, [FAST], never));
    // Of 32 places one may have a quarter of those that are left: six. The seventh waits for 10 s.
    const refused = await Promise.race(waiting);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(refused.headers.get('retry-after')).toBe('1');
    const list = () =>
      call<Session[]>(suite.url, 'GET', '/api/playground', { token: greedy }).then(({ body }) => body);
    await until(async () => (await list()).length === 6);
    const input = { prompt: never, models: [FAST, QWEN, PRO, CODE] };
    const begun = await Promise.all(
      Array.from({ length: 8 }, () => operate(suite.url, START, { token: greedy, variables: { input } })),
    );
    expect(begun.filter(({ body }) => !body.errors)).toHaveLength(6);
    const refusal = begun.find(({ body }) => body.errors)!.body.errors![0]!;
    expect([refusal.extensions.code, refusal.message]).toEqual([
      'rate_limit_exceeded',
      'An account can have at most 32 unfinished runs. Wait for one to finish.',
    ]);
    // Eight of them are made at once; somebody else's run doesn't wait for them.
    const running = async () =>
      (await list()).flatMap(({ runs }) => runs.filter(({ status }) => status === 'running'));
    await until(async () => (await running()).length >= 8, { what: 'eight to be made' });
    expect(await running()).toHaveLength(8);
    expect((await ask(suite.url, token, [FAST], 'Hi [[sim words=2]]')).body.runs[0]!.status).toBe('success');
    for (const { id } of await list())
      await call(suite.url, 'POST', `/api/playground/${id}/cancel`, { token: greedy });
    const ends = (await Promise.all(waiting)).filter(({ status }) => status === 201);
    expect(ends.map(({ body }) => body.runs[0]!.status)).toEqual(Array(6).fill('cancelled'));
    await until(async () =>
      (await list()).every(({ runs }) => runs.every(({ status }) => status === 'cancelled')),
    );
  });

  test('GraphQL returns the same as REST', async () => {
    const { body } = await ask(suite.url, token, [FAST], 'The same. [[sim words=4]]', {
      parameters: { top_p: 0.5 },
    });
    const query = `{ viewer { playgroundSession(id: "${body.id}") { id prompt systemPrompt models shared shareSlug
      publicUrl truncated createdAt parameters { temperature maxTokens topP }
      runs { id modelPublicName servedModelPublicName status responseContent finishReason latencyMs ttftMs inputTokens
        outputTokens costUsd listCostUsd errorCode errorMessage } }
      playgroundSessions(shared: false) { id } } }`;
    const { viewer } = await dataOf<{
      viewer: {
        playgroundSession: { runs: Record<string, unknown>[] };
        playgroundSessions: { id: string }[];
      };
    }>(suite.url, query, { token });
    expect(viewer.playgroundSession).toMatchObject({
      id: body.id,
      prompt: body.prompt,
      models: [FAST],
      shareSlug: null,
      createdAt: body.created_at,
      parameters: { temperature: null, maxTokens: 1_024, topP: 0.5 },
    });
    const run = byModel(body)[FAST]!;
    expect(viewer.playgroundSession.runs[0]).toMatchObject({
      id: run.id,
      status: 'SUCCESS',
      responseContent: run.response_content,
      outputTokens: run.output_tokens,
      listCostUsd: run.list_cost_usd,
    });
    expect(viewer.playgroundSessions.map(({ id }) => id)).toContain(body.id);
  });
});

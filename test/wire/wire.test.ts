import { routes } from '../proxy/routes.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, startTestEdge, type TestEdge, type UsageRow, usageOf } from '../support/edge.js';
import { startTestRouter, type TestRouter } from '../support/router.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { createTestWidget } from '../widgets/edge-support.js';
import { DOORS } from './doors.js';
import { expectedAt, FORMS, type Form, played } from './forms.js';

const CASES = DOORS.flatMap((door) =>
  FORMS.filter((form) => door.takes(form)).map((form) => [form.name, door.name, form, door] as const),
);

/** What no caller gets unless the form says so. */
const NOTHING = { error: undefined, usage: undefined };

/** What a form's event must be. */
function eventOf({ charged }: Form): Partial<UsageRow> {
  if (charged === 'nothing') return { status: 'error', cost: '0.000000000000', anomalous: false };
  const { input, output, estimated = false, anomalous = false } = charged;
  const tokens = { ...(input !== undefined && { input_tokens: input }), output_tokens: output };
  return { status: 'success', ...tokens, estimated, anomalous };
}

describe('what nodes send', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let router: TestRouter;
  let inProcess: TestEdge;
  let overHttp: TestEdge;
  let virtualKey: string;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
    router = await startTestRouter(db, {
      config: routes(['gateway/fast', 'gateway/embed'].map((model) => ({ model, id: model, url: node.url }))),
      settings: { numRetries: 1, retryAfterMs: 0, allowedFails: 1_000 },
    });
    virtualKey = await router.newKey();
    const env = { RESPONSES_API: '1' };
    inProcess = await startTestEdge(db, { models: router, env });
    overHttp = await startTestEdge(db, { upstreamUrl: node.url, env });
  });
  afterAll(async () => {
    await inProcess.close();
    await overHttp.close();
    await router.close();
    await node.close();
    await db.close();
  });

  /** An account with an API key and a widget. */
  const newPayer = async (virtualKey = 'sk-virtual-of-the-tests') => {
    const { key, accountId } = await createTestKey(db, { virtualKey });
    const { publicKey } = await createTestWidget(db, { accountId, virtualKey });
    return { key, accountId, publicKey };
  };

  test('passes at least one door, whatever its form', () => {
    expect(new Set(CASES.map(([name]) => name)).size).toBe(FORMS.length);
  });

  test.each(CASES)('%s through %s, by the router in process', async (_form, _door, form, door) => {
    const { tries = 1 } = form.caller;
    const payer = await newPayer(virtualKey);
    node.answer(played(form));
    const before = node.seen.length;
    const received = { ...NOTHING, ...(await door.call(inProcess.url, payer, form)) };
    expect(received).toMatchObject({ ...NOTHING, ...expectedAt(door.name, form) });
    expect(node.seen.length - before).toBe(tries);
    await inProcess.settled();
    expect(await usageOf(db, payer.accountId)).toEqual([expect.objectContaining(eventOf(form))]);
  });

  test.each(CASES)('%s through %s, from a proxy over HTTP', async (_form, _door, form, door) => {
    const payer = await newPayer();
    node.answer(played(form));
    const received = { ...NOTHING, ...(await door.call(overHttp.url, payer, form)) };
    expect(received).toMatchObject({ ...NOTHING, ...expectedAt(door.name, form) });
    await overHttp.settled();
    expect(await usageOf(db, payer.accountId)).toEqual([expect.objectContaining(eventOf(form))]);
  });
});

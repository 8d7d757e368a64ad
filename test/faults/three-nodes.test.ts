import { insertNode } from '../nodes/support.js';
import { until } from '../support/until.js';
import { outcome } from './rig/client.js';
import { failedEarly, startThreeNodes, type ThreeNodes } from './rig/three-nodes.js';

/** Three nodes under load, one of which dies, stalls, lies, drains and returns. */
describe('of three nodes, one', () => {
  let rig: ThreeNodes;
  beforeEach(async () => {
    rig = await startThreeNodes();
  });
  afterEach(() => rig.close());

  const STREAMS = { words: 10, chunkMs: 2 };
  const CALLERS = 6;
  const served = () =>
    until(() => rig.nodes.every(({ asked }) => asked.length > 5), { what: 'load on all nodes' });
  const leaves = async (takes: string) =>
    until(async () => (await rig.standings())[0] === takes, {
      what: `the first node to take calls: ${takes}`,
    });

  test.each(['dead', 'stalled'] as const)(
    'is %s: no call fails before its first byte, and soon it gets no more',
    async (mode) => {
      const [node] = rig.nodes;
      const load = rig.load(CALLERS, STREAMS);
      await served();
      node!.become(mode);
      await leaves('no');
      // Calls that were on their way to the node end with the answers of the next calls.
      await load.more(2 * CALLERS);
      const calls = node!.asked.length;
      await load.more(5 * CALLERS);
      await load.stop();
      expect(node!.asked.length).toBe(calls);
      expect(failedEarly(load.entries)).toEqual([]);
      // Only answers that had begun there broke off.
      const cut = load.entries.filter((entry) => outcome(entry) !== '200').length;
      expect(cut).toBeLessThanOrEqual(CALLERS);
    },
  );

  test('comes back: after a probe for one token, it gets its share again although it was cooling down', async () => {
    const [node] = rig.nodes;
    const load = rig.load(CALLERS, STREAMS);
    await served();
    node!.become('dead');
    await leaves('no');
    await rig.set(rig.ids[0]!, { health_status: 'unhealthy' });
    node!.become('serving');
    await rig.set(rig.ids[0]!, { health_status: 'healthy' });
    await leaves('yes');
    expect(node!.probes.length).toBeGreaterThan(0);
    const calls = node!.asked.length;
    await load.more(20 * CALLERS);
    await load.stop();
    expect(node!.asked.length - calls).toBeGreaterThan(2 * CALLERS);
    expect(failedEarly(load.entries)).toEqual([]);
  });

  test('drains during long streams and is registered again meanwhile: no stream is lost', async () => {
    const [node] = rig.nodes;
    const long = { words: 500, chunkMs: 10 };
    const streams = Array.from({ length: 12 }, () =>
      rig.journal.call(rig.edge.url, rig.customer.key, long, { stream: true }),
    );
    await until(() => rig.nodes.reduce((sum, { asked }) => sum + asked.length, 0) === 12);
    await rig.set(rig.ids[0]!, { status: 'draining' });
    await leaves('no');
    const calls = node!.asked.length;
    expect(node!.open()).toBe(calls);
    const again = await insertNode(rig.db.pool, node!.url);
    await rig.set(again, {});
    const load = rig.load(CALLERS);
    await load.more(5 * CALLERS);
    const drained = async () =>
      (
        await rig.db.pool.query<{ at: Date | null }>('select drained_at as at from gpu_nodes where id = $1', [
          rig.ids[0],
        ])
      ).rows[0]!.at;
    // On a busy machine, the streams may have ended by now.
    expect((await drained()) === null || node!.open() === 0).toBe(true);
    for (const entry of await Promise.all(streams))
      expect([outcome(entry), entry.tokens]).toEqual(['200', long.words]);
    await until(drained, { what: 'the end of the drain' });
    await load.stop();
    expect(node!.asked.length).toBe(calls);
    expect(load.entries.map(outcome).filter((end) => end !== '200')).toEqual([]);
  });

  describe('lies', () => {
    /** Makes calls until the lying node has answered one. Returns the charge of that call. */
    const lied = async (lie: Parameters<(typeof rig.nodes)[0]['lie']>[0], stream: boolean) => {
      const [node] = rig.nodes;
      node!.lie(lie);
      const before = node!.asked.length;
      const entries = [];
      while (node!.asked.length === before)
        entries.push(await rig.journal.call(rig.edge.url, rig.customer.key, { words: 5 }, { stream }));
      await rig.edge.settled();
      const entry = entries.at(-1)!;
      const { rows } = await rig.db.pool.query<Record<string, unknown>>(
        `select u.served_model, u.status, u.input_tokens, u.output_tokens, u.estimated, u.deployment,
           a.balance + (select sum(cost) from usage_events where account_id = a.id)
             = (select sum(amount) from ledger_entries where account_id = a.id and kind <> 'usage') as booked,
           u.cost = 0 as free
         from usage_events u join accounts a on a.id = u.account_id where u.id = $1`,
        [entry.id],
      );
      return { end: outcome(entry), event: rows[0]! };
    };
    const charged = { booked: true, free: false, status: 'success', served_model: 'gateway/fast' };

    test('about its usage: impossible figures are replaced by estimates', async () => {
      for (const usage of [
        { prompt_tokens: -5, completion_tokens: 5 },
        { prompt_tokens: 10, completion_tokens: 1e15 },
        { prompt_tokens: '10', completion_tokens: [5] },
        'much',
        null,
      ]) {
        for (const stream of [true, false]) {
          const { end, event } = await lied({ usage }, stream);
          expect([usage, end]).toEqual([usage, '200']);
          expect(event).toMatchObject({ ...charged, estimated: true, deployment: 'node-0' });
          expect(event.output_tokens).toBeLessThanOrEqual(5);
        }
      }
    });

    test('about its model: the call is charged as the requested model', async () => {
      for (const stream of [true, false]) {
        const { end, event } = await lied({ model: 'gateway/deepseek-code' }, stream);
        expect(end).toBe('200');
        expect(event).toMatchObject({ ...charged, estimated: false, output_tokens: 5 });
      }
    });

    test('about its end: a stream that never ends is cut and is free', async () => {
      const { end, event } = await lied({ endless: true }, true);
      expect(end).toBe('error event upstream_error');
      expect(event).toMatchObject({ status: 'error', free: true, booked: true });
      await until(() => rig.nodes[0]!.open() === 0, { what: 'the node to be left' });
    });
  });
});

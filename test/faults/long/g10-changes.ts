import { setTimeout as pause } from 'node:timers/promises';
import { signUpAdmin } from '../../support/admin.js';
import { call, signUp } from '../../support/api.js';
import { until } from '../../support/until.js';
import type { Rig } from '../rig/rig.js';
import { largest, percentile, type Result, scaled, withRig } from './goal.js';

const CHANGES = 500;
const CHANGES_WITHOUT_LISTEN = 50;
/** Calls in flight at each change. */
const RACES = 20;
/** How long a refused key is tried again. */
const WATCHED_MS = 300;
const CUT_MS = 10;

interface Owner {
  token: string;
  accountId: string;
  keyId: string;
  key: string;
}

interface Change {
  method: string;
  path(owner: Owner): string;
  body?: unknown;
  /** By the administrator, not the owner. */
  admin?: boolean;
  /** Whether an edge knows. */
  known(url: string, key: string): Promise<boolean>;
  /** The key must never be served again afterwards. */
  final?: boolean;
}

const models = async (url: string, key: string) =>
  fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
const refused = async (url: string, key: string) => {
  const answer = await models(url, key);
  await answer.arrayBuffer();
  return answer.status === 401;
};
const offers = async (url: string, key: string, count: number) => {
  const { data } = (await (await models(url, key)).json()) as { data: unknown[] };
  return data.length === count;
};
const chatStatus = async (url: string, key: string) => {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gateway/fast', messages: [{ role: 'user', content: '{"n":-1}' }] }),
  });
  await answer.arrayBuffer();
  return answer.status;
};

const ofKey = ({ keyId }: Owner) => `/api/keys/${keyId}`;
const ofUser = ({ accountId }: Owner) => `/api/admin/users/${accountId}`;
const PLANS = { free: 2, team: 6 };

/** One after another on one key, so that each undoes the one before. */
const CHANGES_OF_A_KEY: Record<string, Change> = {
  'a cap of 0': {
    method: 'PATCH',
    path: ofKey,
    body: { daily_limit_usd: 0 },
    known: async (url, key) => (await chatStatus(url, key)) === 402,
  },
  'no cap': {
    method: 'PATCH',
    path: ofKey,
    body: { daily_limit_usd: null },
    known: async (url, key) => (await chatStatus(url, key)) === 200,
  },
  'another plan': {
    method: 'PATCH',
    path: ofUser,
    body: { plan: 'free' },
    admin: true,
    known: (url, key) => offers(url, key, PLANS.free),
  },
  'the former plan': {
    method: 'PATCH',
    path: ofUser,
    body: { plan: 'team' },
    admin: true,
    known: (url, key) => offers(url, key, PLANS.team),
  },
  'key disabled': { method: 'PATCH', path: ofKey, body: { status: 'disabled' }, known: refused, final: true },
  'key enabled': {
    method: 'PATCH',
    path: ofKey,
    body: { status: 'active' },
    known: async (url, key) => !(await refused(url, key)),
  },
  'key deleted': { method: 'DELETE', path: ofKey, known: refused, final: true },
};

/** G10: changes on the platform until both edges know them; and the same with all LISTEN connections cut at once. */
export function changes(scale: number): Promise<Result[]> {
  return withRig('G10', { edges: 2, whole: true }, async (rig) => {
    const admin = await signUpAdmin({ db: rig.postgres, url: rig.url });
    const measured = await measure(rig, admin.token, scaled(CHANGES, scale, 21));
    const cutting = cutListen(rig);
    const untold = await measure(rig, admin.token, scaled(CHANGES_WITHOUT_LISTEN, scale, 7));
    await cutting.stop();
    const [p99, most] = [percentile(measured.delays, 0.99), largest(measured.delays)];
    const late = largest(untold.delays);
    return [
      {
        goal: `G10 ${measured.delays.length} changes of cap, plan, status and keys, until both edges know`,
        figure: 'p99 ≤ 250 ms, at most 1 s; 0 resurrections in 10,000 in-flight races',
        reached: `from the request: p50 ${percentile(measured.delays, 0.5).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${most.toFixed(0)} ms; ${measured.resurrections} resurrections in ${measured.races} races`,
        ok: p99 <= 250 && most <= 1_000 && measured.resurrections === 0,
      },
      {
        goal: `G10 ${untold.delays.length} changes while LISTEN is cut again and again`,
        figure: '≤ 5 s',
        reached: `longest ${late.toFixed(0)} ms, ${cutting.cuts()} connections cut; ${untold.resurrections} resurrections in ${untold.races} races`,
        ok: late <= 5_000 && untold.resurrections === 0,
      },
    ];
  });
}

interface Measured {
  delays: number[];
  resurrections: number;
  races: number;
}

async function measure(rig: Rig, admin: string, count: number): Promise<Measured> {
  const measured: Measured = { delays: [], resurrections: 0, races: 0 };
  while (measured.delays.length < count) {
    const owner = await newOwner(rig, admin);
    for (const change of Object.values(CHANGES_OF_A_KEY)) await apply(rig, admin, owner, change, measured);
  }
  return measured;
}

async function newOwner(rig: Rig, admin: string): Promise<Owner> {
  const { token, user } = await signUp(rig.url);
  await call(rig.url, 'PATCH', `/api/admin/users/${user.id}`, { token: admin, body: { plan: 'team' } });
  const made = await call<{ key: string; api_key: { id: string } }>(rig.url, 'POST', '/api/keys', {
    token,
    body: { name: 'of a goal' },
  });
  const owner = { token, accountId: user.id, keyId: made.body.api_key.id, key: made.body.key };
  for (const { url } of rig.edges) await until(async () => (await chatStatus(url, owner.key)) === 200);
  return owner;
}

async function apply(
  rig: Rig,
  admin: string,
  owner: Owner,
  change: Change,
  measured: Measured,
): Promise<void> {
  const { key, token } = owner;
  const racing = Array.from({ length: RACES }, (_, i) =>
    rig.journal.call(rig.edges[i % 2]!.url, key, { ttftMs: rig.random.between(0, 200) }),
  );
  await pause(rig.random.between(0, 100));
  const began = performance.now();
  const { status, text } = await call(rig.url, change.method, change.path(owner), {
    token: change.admin ? admin : token,
    ...(change.body !== undefined && { body: change.body }),
  });
  if (status > 299) throw new Error(`${change.method} ${change.path(owner)} answered ${status}: ${text}`);
  await Promise.all(
    rig.edges.map(({ url }) => until(() => change.known(url, key), { intervalMs: 2, timeoutMs: 20_000 })),
  );
  measured.delays.push(performance.now() - began);
  if (change.final) {
    for (const end = performance.now() + WATCHED_MS; performance.now() < end; await pause(10)) {
      for (const { url } of rig.edges) if (!(await refused(url, key))) measured.resurrections++;
    }
    measured.races += RACES;
  }
  await Promise.all(racing);
}

/** Ends every listening connection as soon as it exists. */
function cutListen(rig: Rig): { cuts(): number; stop(): Promise<void> } {
  let stopped = false;
  let cuts = 0;
  const cutting = (async () => {
    while (!stopped) {
      const { rowCount } = await rig.postgres.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gateway-listen'`,
      );
      cuts += rowCount ?? 0;
      await pause(CUT_MS);
    }
  })();
  return {
    cuts: () => cuts,
    async stop() {
      stopped = true;
      await cutting;
    },
  };
}

import { type Rig, startRig } from '../../faults/rig/rig.js';
import { WITH_SECRET } from '../../nodes/support.js';
import { signUpAdmin } from '../../support/admin.js';
import { call, signUp } from '../../support/api.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import type { FuzzTarget } from './fuzz.js';

export interface FuzzRig extends FuzzTarget {
  readonly rig: Rig;
  close(): Promise<void>;
}

/** What Node writes when something is about to go wrong, or did without anybody noticing. */
const OMINOUS = /Warning:|UnhandledPromise|uncaughtException|FATAL|heap out of memory/;

/** Edge, platform, model proxy with its simulator, and jobs, each a process of its own, with a user, an admin, a key. */
export async function startFuzzRig(name: string): Promise<FuzzRig> {
  const rig = await startRig(name, {
    upstream: 'proxy',
    whole: true,
    direct: true,
    balance: '1000000',
    env: { ...WITH_SECRET, RESPONSES_API: '1' },
  });
  try {
    const { pool } = rig.postgres;
    await pool.query('update plans set requests_per_minute = 10000000');
    const [caller] = await rig.customers(1);
    const user = await signUp(rig.url);
    const admin = await signUpAdmin({ db: rig.postgres, url: rig.url });
    const nobody = await signUp(rig.url);
    const key = await call<{ api_key: { id: string } }>(rig.url, 'POST', '/api/keys', {
      token: user.token,
      body: { name: 'fuzzed' },
    });
    const check = await call(rig.url, 'GET', '/api/admin/users', { token: admin.token });
    if (key.status !== 201 || check.status !== 200) throw new Error(`${key.status}, ${check.status}`);
    const processes = [rig.edge, rig.platform, rig.proxy, rig.jobs];
    return {
      rig,
      url: rig.url,
      credentials: {
        key: caller!.key,
        user: user.token,
        admin: admin.token,
        ids: [key.body.api_key.id, nobody.user.id],
      },
      secrets: Object.values(TEST_SECRETS),
      dead() {
        const ended = processes.find((one) => !one.running());
        if (ended) return `${ended.name} ended: ${ended.output().slice(-3_000)}`;
        const warned = processes.find((one) => OMINOUS.test(one.output()));
        return warned && `${warned.name} says: ${warned.output().slice(-3_000)}`;
      },
      async revive() {
        for (const one of processes) if (!one.running()) await one.start();
      },
      close: () => rig.close(),
    };
  } catch (error) {
    await rig.close();
    throw error;
  }
}

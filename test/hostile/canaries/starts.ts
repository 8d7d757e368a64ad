import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inDist } from '../../support/dist.js';
import { INHERITED_ENV } from '../../support/inherited-env.js';
import { LONG } from '../../support/size.js';
import type { Aviary } from './canaries.js';

const MAINS = {
  launcher: 'start.js',
  edge: 'gateway/main.js',
  platform: 'platform/main.js',
  jobs: 'jobs/main.js',
  proxy: 'proxy/main.js',
} as const;
/** Who waits for a database says so at once, and after a minute the same again. */
const WAITS = /waiting up to|waits for/;
const PATIENCE_MS = 60_000;
/** Beside the traffic, which waits half of its time. */
const AT_ONCE = 2;

/** Starts a process with an environment that is wrong; gives everything that it says until it ends, waits or works. */
function failingStart(name: keyof typeof MAINS, env: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(process.execPath, [inDist(MAINS[name])], {
      env: { ...INHERITED_ENV, LOG_LEVEL: 'trace', ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    // It serves: who needs no database does so without one.
    child.on('message', () => child.kill('SIGKILL'));
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (bytes) => {
        output += bytes;
        if (WAITS.test(output)) child.kill('SIGKILL');
      });
    const limit = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    child.on('close', () => {
      clearTimeout(limit);
      resolve(`${name}: ${output}`);
    });
  });
}

/** Every process with settings that are wrong, each of which is a secret as well. */
export async function failingStarts(folder: string, aviary: Aviary, databasePort: number): Promise<string[]> {
  const secret = (what: string) => aviary.make(what);
  const common = {
    DATA_DIR: join(folder, 'failing'),
    PORT: '0',
    PLATFORM_PORT: '0',
    PROXY_PORT: '0',
    PLATFORM_URL: 'http://127.0.0.1:1',
    UPSTREAM_URL: 'http://127.0.0.1:1',
    JWT_SECRET: secret('JWT secret of a start'),
    ENCRYPTION_KEY: secret('encryption key of a start'),
    WEBHOOK_SECRET: secret('webhook secret of a start'),
    UPSTREAM_MASTER_KEY: secret('master key of a start'),
  };
  const routing = join(folder, 'broken.yaml');
  writeFileSync(
    routing,
    `model_list:\n  - model_name: gateway/fast\n    litellm_params: { model: 1, api_base: "http://${secret('node of a broken file')}:8000", api_key: ${secret('node key of a broken file')} }\n  : broken\n`,
  );
  const production = {
    NODE_ENV: 'production',
    JWT_SECRET: secret('short').slice(0, 20),
    ENCRYPTION_KEY: common.JWT_SECRET,
    WEBHOOK_SECRET: common.JWT_SECRET,
  };
  const bad: Record<string, string>[] = [
    { DATABASE_URL: `postgresql://gateway:${secret('password of no server')}@127.0.0.1:1/gateway` },
    {
      DATABASE_URL: `postgresql://nobody:${secret('password of no user')}@127.0.0.1:${databasePort}/nothing`,
    },
    {
      DATABASE_URL: `postgresql://gateway:${secret('password of no host')}@database.invalid:5432/gateway`,
    },
    { DATABASE_URL: `postgresql://gateway:${secret('password of a bad port')}@127.0.0.1:99999999/gateway` },
    { DATABASE_URL: `mysql://gateway:${secret('password of another kind')}@127.0.0.1/gateway` },
    { DATABASE_URL: `gateway:${secret('password of no address')}` },
    {
      DATABASE_URL: 'postgresql://gateway@127.0.0.1:1/gateway',
      REDIS_URL: `http://:${secret('password of Redis')}@127.0.0.1`,
    },
    {
      DATABASE_URL: 'postgresql://gateway@127.0.0.1:1/gateway',
      REDIS_URL: `redis://:${secret('password of no Redis')}@127.0.0.1:1`,
    },
    {
      SMTP_URL: `http://user:${secret('password of mail')}@127.0.0.1`,
      ADMIN_PASSWORD: secret('a').slice(0, 7),
      ADMIN_EMAIL: secret('admin mail'),
      TRUST_PROXY: 'nowhere',
    },
    { DATABASE_URL: 'postgresql://gateway@127.0.0.1:1/gateway', PROXY_CONFIG: routing },
    { DATABASE_URL: 'postgresql://gateway@127.0.0.1:1/gateway', ...production },
  ];
  const full = <T>(value: T[]): T[] => (LONG ? value : []);
  // First the processes that use the running server, which stops soon. One function reports database errors, for jobs and for the
  // platform, which takes twice as long to load.
  const starts: [keyof typeof MAINS, Record<string, string>][] = [
    ['platform', bad[1]!],
    ...full<[keyof typeof MAINS, Record<string, string>]>([['jobs', bad[1]!]]),
    ['proxy', bad[1]!],
    ['jobs', bad[0]!],
    ['jobs', bad[2]!],
    ['platform', bad[7]!],
    ['proxy', bad[9]!],
    // Edge and platform read it themselves.
    ['edge', { ...bad[9]!, UPSTREAM_URL: '' }],
  ];
  // All print what is wrong with their settings by one function, and the launcher is loaded in a fifth of the time.
  const refused = [bad[3]!, bad[4]!, bad[5]!, bad[6]!, bad[8]!, bad[10]!];
  for (const env of refused) starts.push(['launcher', env]);
  for (const env of full([...refused, bad[0]!, bad[2]!])) starts.push(['platform', env]);
  // The edge says nothing of a database that it waits for.
  for (const env of LONG ? refused : [bad[8]!]) starts.push(['edge', env]);
  const outputs: string[] = [];
  const next = starts.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [name, env] of next) outputs.push(await failingStart(name, { ...common, ...env }));
    }),
  );
  return outputs;
}

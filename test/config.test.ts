import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fastify } from 'fastify';
import { ConfigError, loadConfig } from '../src/config.js';
import type { ProcessRole } from '../src/config-schema.js';
import { temporaryFolder } from './launcher/support.js';
import { inDist } from './support/dist.js';

const STRONG = 'q7Zp0s9dKxL2mVnB4cYwR8tEhJ6uGfA1iOzXvCbN';
const REDIS = { REDIS_URL: 'redis://127.0.0.1' };
const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgresql://u:p@db.internal/gateway',
  UPSTREAM_MASTER_KEY: `${STRONG}1`,
  JWT_SECRET: `${STRONG}2`,
  ENCRYPTION_KEY: `${STRONG}3`,
  WEBHOOK_SECRET: `${STRONG}4`,
};

describe('the configuration', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const load = (env: NodeJS.ProcessEnv, role: ProcessRole = 'launcher') =>
    loadConfig({ DATA_DIR: folder.path, ...env }, role);
  const faults = (env: NodeJS.ProcessEnv, role?: ProcessRole): string[] => {
    try {
      load(env, role);
    } catch (error) {
      if (error instanceof ConfigError) return error.lines;
      throw error;
    }
    return [];
  };

  test('needs nothing at all outside production', () => {
    const config = load({});
    expect(config).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      publicBaseUrl: 'http://localhost:8080',
      databaseUrl: null,
      production: false,
      backgroundTasks: true,
      upstreamUrl: null,
    });
  });

  test('takes an empty variable for one that is not set', () => {
    expect(load({ PORT: '', DATABASE_URL: '', METRICS_PORT: '' })).toMatchObject({
      port: 8080,
      databaseUrl: null,
      metricsPort: null,
    });
  });

  test('tells all faults at once, one line each, naming the variable and never its value', () => {
    const lines = faults({
      PORT: 'eighty',
      DATABASE_URL: 'mysql://root:hunter2@db/x',
      ADMIN_EMAIL: 'not-a-mail-hunter2',
      LOG_LEVEL: 'loud',
      UPSTREAM_TIMEOUT_SECONDS: '-1',
      TRUST_PROXY: '10.0.0.0/8, everyone',
    });
    expect(lines.map((line) => line.split(/[:.]/)[0]).sort()).toEqual(
      ['ADMIN_EMAIL', 'DATABASE_URL', 'LOG_LEVEL', 'PORT', 'TRUST_PROXY', 'UPSTREAM_TIMEOUT_SECONDS'].sort(),
    );
    expect(lines.join('\n')).not.toContain('hunter2');
    expect(lines.every((line) => !line.includes('\n'))).toBe(true);
  });

  test.each<[string, NodeJS.ProcessEnv, string]>([
    ['PORT', { PORT: '65536' }, 'PORT: must be an integer from 0 to 65535'],
    ['PORT', { PORT: '80.5' }, 'PORT: must be an integer from 0 to 65535'],
    ['PORT', { PORT: 'http' }, 'PORT: must be an integer from 0 to 65535'],
    ['PORT', { PORT: '-1' }, 'PORT: must be an integer from 0 to 65535'],
    [
      'USAGE_RETENTION_MONTHS',
      { USAGE_RETENTION_MONTHS: '0' },
      'USAGE_RETENTION_MONTHS: must be an integer from 1 to 1200',
    ],
    [
      'HISTORY_RETENTION_MONTHS',
      { USAGE_RETENTION_MONTHS: '15', HISTORY_RETENTION_MONTHS: '14' },
      'HISTORY_RETENTION_MONTHS: must be at least USAGE_RETENTION_MONTHS, which is 15',
    ],
    ['USAGE_PARTITIONS', { USAGE_PARTITIONS: 'week' }, 'USAGE_PARTITIONS: must be month or day'],
    [
      'SIGNUPS_PER_NETWORK_PER_DAY',
      { SIGNUPS_PER_NETWORK_PER_DAY: 'many' },
      'SIGNUPS_PER_NETWORK_PER_DAY: must be an integer, 0 or more',
    ],
    [
      'UPSTREAM_IDLE_SECONDS',
      { UPSTREAM_IDLE_SECONDS: '0' },
      'UPSTREAM_IDLE_SECONDS: must be a number of seconds above 0, at most 86400',
    ],
    [
      'HUNG_AFTER_SECONDS',
      { HUNG_AFTER_SECONDS: '-1' },
      'HUNG_AFTER_SECONDS: must be a number of seconds from 0 to 86400',
    ],
    [
      'HUNG_AFTER_SECONDS',
      { HUNG_AFTER_SECONDS: 'never' },
      'HUNG_AFTER_SECONDS: must be a number of seconds from 0 to 86400',
    ],
    ['NODE_ENV', { NODE_ENV: 'Production' }, 'NODE_ENV: must be production, development or test'],
    ['NODE_ENV', { NODE_ENV: 'prod' }, 'NODE_ENV: must be production, development or test'],
    [
      'LOG_LEVEL',
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL: must be fatal, error, warn, info, debug, trace or silent',
    ],
    [
      'REDIS_URL',
      { REDIS_URL: 'rediss://127.0.0.1/99' },
      'REDIS_URL: the database after the host must be a number from 0 to 15',
    ],
    [
      'REDIS_URL',
      { REDIS_URL: 'redis://127.0.0.1?db=99' },
      'REDIS_URL: the database after the host must be a number from 0 to 15',
    ],
    [
      'PLATFORM_URL',
      { PLATFORM_URL: 'http://127.0.0.1:3000,' },
      'PLATFORM_URL: must be a URL (http or https), such as http://127.0.0.1:3000',
    ],
    [
      'REDIS_URL',
      { REDIS_URL: 'redis://127.0.0.1/cache' },
      'REDIS_URL: the database after the host must be a number from 0 to 15',
    ],
    [
      'GPU_HEARTBEAT_SECRET_PREVIOUS',
      { GPU_HEARTBEAT_SECRET_PREVIOUS: 'old' },
      'GPU_HEARTBEAT_SECRET_PREVIOUS: also set GPU_HEARTBEAT_SECRET',
    ],
    [
      'REDIS_URL',
      { REDIS_URL: 'localhost:6379' },
      'REDIS_URL: must be a URL (redis), such as redis://127.0.0.1:6379',
    ],
    [
      'REDIS_URL',
      { REDIS_URL: 'redis://one:6379,redis://two:6379' },
      'REDIS_URL: must be a URL (redis), such as redis://127.0.0.1:6379',
    ],
    [
      'UPSTREAM_URL',
      { UPSTREAM_URL: 'ftp://x' },
      'UPSTREAM_URL: must be a URL (http or https), such as http://127.0.0.1:4000',
    ],
    [
      'SMTP_URL',
      { SMTP_URL: 'mail.example.com' },
      'SMTP_URL: must be a URL (smtp), such as smtp://user:password@mail.example.com:587',
    ],
    ['ALLOW_SIMULATOR', { ALLOW_SIMULATOR: 'yes' }, 'ALLOW_SIMULATOR: must be 0 or 1'],
    [
      'ALLOWED_BODY_FIELDS',
      { ALLOWED_BODY_FIELDS: 'lora_path, a b' },
      'ALLOWED_BODY_FIELDS: "a b" is not a field name',
    ],
    ...[
      'metadata',
      'langfuse_host',
      'Max_New_Tokens',
      'n_predict',
      'api_base',
      'chat_template_kwargs.tokenize',
    ].map((name): [string, NodeJS.ProcessEnv, string] => [
      'ALLOWED_BODY_FIELDS',
      { ALLOWED_BODY_FIELDS: name },
      `ALLOWED_BODY_FIELDS: "${name}" would control the model proxy, or override the limit on what a call may generate`,
    ]),
    ['SIMULATOR_CONTROLS', { SIMULATOR_CONTROLS: 'on' }, 'SIMULATOR_CONTROLS: must be 0 or 1'],
    ['ADMIN_EMAIL', { ADMIN_EMAIL: 'root' }, 'ADMIN_EMAIL: must be an email address'],
    ['ADMIN_PASSWORD', { ADMIN_PASSWORD: 'short' }, 'ADMIN_PASSWORD: must have 8 to 128 characters'],
    [
      'ADMIN_PASSWORD',
      { ADMIN_PASSWORD: 'long'.repeat(33) },
      'ADMIN_PASSWORD: must have 8 to 128 characters',
    ],
    ...[
      '10.0.0.0/99',
      '::::',
      '10.0.0',
      'everyone',
      '::1/129',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      'fe80::1%eth0',
    ].map((entry): [string, NodeJS.ProcessEnv, string] => [
      'TRUST_PROXY',
      { TRUST_PROXY: `127.0.0.1, ${entry}` },
      `TRUST_PROXY: "${entry}" is not an address or CIDR`,
    ]),
    [
      'TRUST_PROXY',
      { TRUST_PROXY: '0.0.0.0/0' },
      'TRUST_PROXY: "0.0.0.0/0" would trust everyone; list the networks of your proxies',
    ],
  ])('refuses a wrong %s: %j', (_name, env, line) => expect(faults(env)).toEqual([line]));

  test.each([
    [{}, true],
    [{ SIMULATOR_CONTROLS: '0' }, false],
    [production, false],
    [{ ...production, SIMULATOR_CONTROLS: '1' }, true],
  ])(
    'lets prompts steer the simulator outside production, or where a setting allows that: %j',
    (env, steered) => {
      expect(load(env).simulatorControls).toBe(steered);
    },
  );

  test('knows where mail goes only with SMTP_URL, and takes a sender with a name', () => {
    expect(load({ MAIL_FROM: 'a@example.com' }).mail).toBeNull();
    const smtp = { SMTP_URL: 'smtp://mail.example.com:587' };
    expect(load({ ...smtp, PUBLIC_BASE_URL: 'https://api.example.com/' }).mail).toEqual({
      smtpUrl: smtp.SMTP_URL,
      from: 'no-reply@api.example.com',
    });
    for (const from of [
      'Gateway alerts <alerts@example.com>',
      'no-reply@localhost',
      'Gateway <alerts@127.0.0.1>',
    ]) {
      expect(load({ ...smtp, MAIL_FROM: from }).mail).toMatchObject({ from });
    }
    for (const wrong of [
      'nobody',
      'nobody@',
      'nobody@.localhost',
      'a@b.example, c@d.example',
      'A <a@b.example> <c@d.example>',
      'A\r\nBcc: <a@b.example>',
    ]) {
      expect(faults({ ...smtp, MAIL_FROM: wrong })).toEqual([
        'MAIL_FROM: must be an email address, or a name and an email address in <>',
      ]);
    }
  });

  test('names every wrong entry of TRUST_PROXY, and takes what a proxy may have', () => {
    expect(faults({ TRUST_PROXY: '10.0.0.0/33,::1,x' })).toEqual([
      'TRUST_PROXY: "10.0.0.0/33" is not an address or CIDR',
      'TRUST_PROXY: "x" is not an address or CIDR',
    ]);
    const trusted = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1', '::ffff:10.0.0.0/104'];
    const { trustProxy } = load({ TRUST_PROXY: trusted.join(', ') });
    expect(trustProxy).toEqual(trusted);
    // The server itself takes them: what it refuses ends the process.
    expect(() => fastify({ trustProxy })).not.toThrow();
  });

  describe('in production', () => {
    test('is complete with the starred variables', () => expect(faults(production)).toEqual([]));

    test('names every starred variable that is missing', () => {
      expect(faults({ NODE_ENV: 'production' })).toEqual([
        'DATABASE_URL: must be set in production',
        'UPSTREAM_MASTER_KEY: must be set in production',
        'JWT_SECRET: must be set in production',
        'ENCRYPTION_KEY: must be set in production',
        'WEBHOOK_SECRET: must be set in production',
      ]);
    });

    test.each([
      'UPSTREAM_MASTER_KEY',
      'JWT_SECRET',
      'ENCRYPTION_KEY',
      'WEBHOOK_SECRET',
      'GPU_HEARTBEAT_SECRET',
    ])('refuses a %s that is short or well known', (name) => {
      expect(faults({ ...production, [name]: STRONG.slice(0, 31) })).toEqual([
        `${name}: must have at least 32 bytes in production`,
      ]);
      expect(faults({ ...production, [name]: 'change-me-in-production-please-now' })).toEqual([
        `${name}: is well known or easy to guess; generate a random one, for example with: openssl rand -base64 48`,
      ]);
    });

    test('refuses one secret for two purposes', () => {
      const { JWT_SECRET } = production;
      expect(faults({ ...production, WEBHOOK_SECRET: JWT_SECRET, GPU_HEARTBEAT_SECRET: JWT_SECRET })).toEqual(
        [
          'WEBHOOK_SECRET: has the same value as JWT_SECRET; use a different one',
          'GPU_HEARTBEAT_SECRET: has the same value as JWT_SECRET; use a different one',
        ],
      );
    });

    test('generates no secret', () => {
      const config = load(production);
      expect(config.jwtSecret).toBe(production.JWT_SECRET);
      expect(() => statSync(join(folder.path, 'secrets'))).toThrow('ENOENT');
    });
  });

  test('of a process that is started alone says what the launcher would have set', () => {
    expect(faults({}, 'edge').map((line) => line.split(':')[0])).toEqual(['DATABASE_URL', 'PLATFORM_URL']);
    expect(faults({}, 'jobs').map((line) => line.split(':')[0])).toEqual(['DATABASE_URL']);
  });

  test("goes to one database by both addresses, and has no way past a pooler that isn't there", () => {
    const [pooled, direct] = ['postgres://u:p@pooler/gateway', 'postgres://u:p@db/gateway'];
    expect(load({ DATABASE_URL: pooled })).toMatchObject({ databaseUrl: pooled, databaseDirectUrl: pooled });
    const both = { DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct };
    expect(load(both)).toMatchObject({ databaseUrl: pooled, databaseDirectUrl: direct });
    expect(faults({ DATABASE_DIRECT_URL: direct })[0]).toMatch(/^DATABASE_DIRECT_URL: also set DATABASE_URL/);
    expect(faults({ ...both, DATABASE_DIRECT_URL: 'mysql://u:hunter2@db' })[0]).toMatch(
      /^DATABASE_DIRECT_URL: must be/,
    );
  });

  test('runs no scheduled job under NODE_ENV=test or with background tasks disabled', () => {
    expect(load({ NODE_ENV: 'test' }).backgroundTasks).toBe(false);
    expect(load({ DISABLE_BACKGROUND_TASKS: '1' }).backgroundTasks).toBe(false);
    expect(load({ DISABLE_BACKGROUND_TASKS: '0' }).backgroundTasks).toBe(true);
  });

  test.each<[NodeJS.ProcessEnv, string[]]>([
    [
      { METRICS_PORT: '65534' },
      ['METRICS_PORT: 65534 is too high: npm start uses it and the next two; the maximum is 65533'],
    ],
    [{ METRICS_PORT: '65533' }, []],
    [
      { METRICS_PORT: '65532', EDGE_PROCESSES: '3', REDIS_URL: 'redis://127.0.0.1' },
      ['METRICS_PORT: 65532 is too high: npm start uses it and the next 4; the maximum is 65531'],
    ],
    [{ METRICS_PORT: '8080' }, ['METRICS_PORT: npm start uses 8080 to 8082, and 8080 is PORT']],
    [{ METRICS_PORT: '8078' }, ['METRICS_PORT: npm start uses 8078 to 8080, and 8080 is PORT']],
    [{ METRICS_PORT: '8077' }, []],
    [
      { METRICS_PORT: '9090', PLATFORM_PORT: '9091' },
      ['METRICS_PORT: npm start uses 9090 to 9092, and 9091 is PLATFORM_PORT'],
    ],
    [{ PORT: '9000', PLATFORM_PORT: '9000' }, ['PLATFORM_PORT: 9000 is also the value of PORT']],
    [{ PORT: '0', PLATFORM_PORT: '0', METRICS_PORT: '0' }, []],
  ])('of npm start has a port for each listener: %j', (env, lines) => {
    expect(faults(env)).toEqual(lines);
    // Alone, a process has one of them.
    expect(faults({ ...production, ...env }, 'jobs')).toEqual([]);
  });

  test.each<[NodeJS.ProcessEnv, number]>([
    [{}, 1],
    [{ EDGE_PROCESSES: '1' }, 1],
    [{ EDGE_PROCESSES: '4', ...REDIS }, 4],
    [{ EDGE_PROCESSES: 'auto', ...REDIS }, Math.max(1, availableParallelism() - 1)],
  ])('runs as many edges as %j says', (env, edges) => {
    expect(load(env).edgeProcesses).toBe(edges);
  });

  test.each<[NodeJS.ProcessEnv, number]>([
    [{}, 60_000],
    [{ HUNG_AFTER_SECONDS: '2.5' }, 2_500],
    [{ HUNG_AFTER_SECONDS: '0' }, 0],
  ])('takes a silent process for hung when %j says', (env, afterMs) => {
    expect(load(env).hungAfterMs).toBe(afterMs);
  });

  test('refuses several edges without Redis, in one line that names both settings', () => {
    const [line, ...others] = faults({ EDGE_PROCESSES: '2' });
    expect(line).toBe(
      'EDGE_PROCESSES: 2 edges share their limits over Redis: set REDIS_URL, or EDGE_PROCESSES to 1',
    );
    expect(others).toEqual([]);
    expect(faults({ EDGE_PROCESSES: '2', ...REDIS })).toEqual([]);
    const cores = availableParallelism();
    const auto = `EDGE_PROCESSES: auto means ${cores - 1} edges here, which share their limits over Redis: set REDIS_URL, or EDGE_PROCESSES to 1`;
    expect(faults({ EDGE_PROCESSES: 'auto' })).toEqual(cores > 2 ? [auto] : []);
  });

  test('refuses a number of edges that is not a whole number from 1 to 64', () => {
    const line = 'EDGE_PROCESSES: must be auto or an integer from 1 to 64';
    for (const EDGE_PROCESSES of ['0', '65', 'all', '1.5'])
      expect(faults({ EDGE_PROCESSES })).toEqual([line]);
  });

  describe('of a DATA_DIR that can not be used', () => {
    test.each([
      ['/etc/passwd', "DATA_DIR: /etc/passwd can't be used: it, or part of its path, is a file (EEXIST)"],
      ['/dev/null/x', "DATA_DIR: /dev/null/x can't be used: it, or part of its path, is a file (EEXIST)"],
      ['/proc/foo', "DATA_DIR: /proc/foo can't be used: the system doesn't allow creating it (ENOENT)"],
      ['/proc', "DATA_DIR: /proc can't be used: the system doesn't allow creating it (ENOENT)"],
    ])('names it: %s', (path, line) => {
      expect(faults({ DATA_DIR: path })).toEqual([line]);
      expect(faults({ ...production, DATA_DIR: path })).toEqual([line]);
    });

    test('names what is in its way inside', () => {
      writeFileSync(join(folder.path, 'secrets'), '');
      expect(faults({})).toEqual([
        `DATA_DIR: ${folder.path} can't be used: it, or part of its path, is a file (ENOTDIR at ${folder.path}/secrets/UPSTREAM_MASTER_KEY)`,
      ]);
    });

    test('does not stop a process that needs none', () => {
      const env = { ...production, DATA_DIR: '/dev/null/x', UPSTREAM_URL: 'http://127.0.0.1:9' };
      expect(faults(env, 'platform')).toEqual([]);
    });

    test('does not stop a command whose database is elsewhere', () => {
      const env = { ...production, DATA_DIR: '/dev/null/x' };
      expect(faults(env, 'cli')).toEqual([]);
      expect(faults({ DATA_DIR: '/dev/null/x' }, 'cli')).toHaveLength(1);
      expect(faults({}, 'cli')).toEqual([]);
    });

    test('ends the process with code 78 and one line', () => {
      const env = { PATH: process.env.PATH, DATA_DIR: '/dev/null/x' };
      const { status, stderr, stdout } = spawnSync(process.execPath, [inDist('start.js')], {
        env,
        encoding: 'utf8',
      });
      expect({ status, stdout }).toEqual({ status: 78, stdout: '' });
      expect(stderr).toBe(
        "configuration: DATA_DIR: /dev/null/x can't be used: it, or part of its path, is a file (EEXIST)\n",
      );
    });
  });

  describe('generated secrets', () => {
    test('stay the same over restarts, differ from each other, and are nobody else’s to read', () => {
      const dataDir = join(folder.path, 'not', 'there', 'yet');
      const first = load({ DATA_DIR: dataDir });
      const second = load({ DATA_DIR: dataDir });
      const names = ['jwtSecret', 'encryptionKey', 'upstreamMasterKey'] as const;
      for (const name of names) {
        expect(second[name]).toBe(first[name]);
        expect(Buffer.byteLength(first[name])).toBeGreaterThanOrEqual(32);
      }
      expect(new Set(names.map((name) => first[name])).size).toBe(names.length);
      const file = join(dataDir, 'secrets', 'JWT_SECRET');
      expect(readFileSync(file, 'utf8').trim()).toBe(first.jwtSecret);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(statSync(join(dataDir, 'secrets')).mode & 0o777).toBe(0o700);
      // The database's unprivileged user has to pass.
      expect(statSync(dataDir).mode & 0o001).toBe(0o001);
    });
  });
});

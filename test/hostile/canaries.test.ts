import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Rig, startRig } from '../faults/rig/rig.js';
import { dumpTables } from '../support/dump.js';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp.js';
import { until } from '../support/until.js';
import { Aviary, type Finding, findIn } from './canaries/canaries.js';
import { type CanaryNode, startCanaryNode } from './canaries/node.js';
import { failingStarts } from './canaries/starts.js';
import { type Person, Traffic } from './canaries/traffic.js';

/**
 * Requirements G22, T27: secrets and what is about people, sent on every way through the product while all its
 * processes log as much as they can, are found in no log, file, row or reply but where they belong.
 */

/** What may stand where, and why. Everything else may stand nowhere. */
const ALLOWED: { canary: RegExp; where: RegExp; because: string }[] = [
  {
    canary: /^(?:\w+ )?mail(?: in .*)?$/,
    where: /^database public\.accounts$/,
    because: 'people log in with it',
  },
  {
    canary: /^(?:\w+ )?name(?: in .*)?$/,
    where: /^database public\.accounts$/,
    because: 'what people call themselves',
  },
  {
    canary: /^widget system prompt$/,
    where: /^database public\.widgets$/,
    because: 'the owner wrote it there, to be used for every chat',
  },
  {
    canary: /^answer$/,
    where: /^reply to a visitor: POST \/api\/widget\/chat/,
    because: 'the model answered them',
  },
  { canary: /key name/, where: /^database public\.api_keys$/, because: 'the label that the owner chose' },
  {
    canary: /idempotency key(?! of v1)/,
    where: /^database public\.ledger_entries$/,
    because: 'a repetition is known by it, for ever',
  },
  {
    canary: /^deployment of/,
    where: /^log of gateway$/,
    because: 'the operator named it, and needs to see whose price is wrong',
  },
  {
    canary: /^deployment of/,
    where: /^(?:database public\.(?:call_routes|node_hours|proxy_reports)|file .*\/spool\/|trace)/,
    because: 'calls, reports and traces keep who served, for administrators',
  },
  {
    canary: /mail|name/,
    where: /^reply to admin: /,
    because: 'who administers accounts sees whose they are',
  },
];

describe('canaries', () => {
  const aviary = new Aviary();
  let folder: string;
  let node: CanaryNode;
  let rig: Rig;
  let receiver: OtlpReceiver;
  let traffic: Traffic;
  /** Files that were there while the database was not: the spool is empty otherwise. */
  const files = new Map<string, string>();
  let starts: string[] = [];
  let dump: Map<string, string[]>;
  let outputs: [string, string][];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-canaries-'));
    node = await startCanaryNode({
      address: aviary.make('node address'),
      stack: aviary.make('stack of the node'),
      answer: aviary.make('answer', 'ada'),
    });
    receiver = await startOtlpReceiver();
    const env = await environment();
    rig = await startRig('canaries', {
      direct: true,
      whole: true,
      upstream: 'router',
      env,
      keptOutputBytes: 2 ** 28,
    });
    traffic = new Traffic(rig, aviary, env.ENCRYPTION_KEY);
    [starts] = await Promise.all([failingStarts(folder, aviary, rig.postgres.port), everything()]);
    dump = await dumpTables(rig.postgres.pool);
    const processes = [rig.edge, rig.platform, rig.jobs];
    outputs = processes.map((one) => [one.name, one.output()]);
  }, 240_000);
  afterAll(async () => {
    await rig?.close();
    await receiver?.close();
    await node?.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** Secrets of the installation, and a routing file whose only node is ours. */
  async function environment() {
    const nodes = [
      ['gateway/fast', node.url],
      ['gateway/embed', node.url],
      ['gateway/qwen-fast', `http://${aviary.make('name of a node')}.invalid:8000/v1`],
    ].map(
      ([name, url]) => `  - model_name: ${name}
    litellm_params: { model: openai/${aviary.make(`upstream id of ${name}`)}, api_base: "${url}", api_key: os.environ/NODE_KEY, input_cost_per_token: 0.0000001, output_cost_per_token: 0.0000003 }
    model_info: { id: ${aviary.make(`deployment of ${name}`)} }`,
    );
    const routing = join(folder, 'routing.yaml');
    writeFileSync(
      routing,
      `model_list:\n${nodes.join('\n')}\nrouter_settings: { num_retries: 0, retry_after: 0, allowed_fails: 1000, cooldown_time: 0 }\ngeneral_settings: { master_key: os.environ/UPSTREAM_MASTER_KEY }\n`,
    );
    return {
      LOG_LEVEL: 'trace',
      RESPONSES_API: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${aviary.make('token of the trace receiver')}`,
      PROXY_CONFIG: routing,
      NODE_KEY: aviary.make('node key'),
      JWT_SECRET: aviary.make('JWT secret'),
      JWT_SECRET_PREVIOUS: aviary.make('previous JWT secret'),
      ENCRYPTION_KEY: aviary.make('encryption key'),
      ENCRYPTION_KEY_PREVIOUS: aviary.make('previous encryption key'),
      WEBHOOK_SECRET: aviary.make('webhook secret'),
      UPSTREAM_MASTER_KEY: aviary.make('master key'),
      GPU_HEARTBEAT_SECRET: aviary.make('heartbeat secret'),
      SMTP_URL: `smtp://mailer:${aviary.make('password of the mail server')}@127.0.0.1:1`,
      MAIL_FROM: 'gateway@example.com',
    };
  }

  async function everything(): Promise<void> {
    const [ada, bob, admin] = [
      await traffic.signUp('ada'),
      await traffic.signUp('bob'),
      await traffic.signUp('admin'),
    ];
    await rig.postgres.pool.query(`update accounts set role = 'admin' where id = $1`, [admin.accountId]);
    const { text } = await traffic.ask('admin', 'POST', '/api/auth/login', {
      body: { email: admin.email, password: admin.password },
    });
    admin.token = (JSON.parse(text) as { access_token: string }).access_token;
    aviary.keep('admin session', admin.token.split('.')[2]!, 'admin');
    // Plan team for all: the free one has 20 calls a minute.
    for (const { accountId } of [ada, bob])
      await traffic.ask('admin', 'PATCH', `/api/admin/users/${accountId}`, {
        token: admin.token,
        body: { plan: 'team' },
      });
    await traffic.inference(ada);
    await traffic.refusals(ada);
    await traffic.widget(ada);
    await traffic.malformed();
    await traffic.api(ada, admin);
    await others(bob);
    await outage(ada);
    await brokenSchema(ada);
    await deaths(ada);
    await traffic.goodbye(bob);
  }

  /** What somebody else sees of it. */
  async function others(bob: Person): Promise<void> {
    await traffic.chat(bob, 'refuse');
    await traffic.ask('bob', 'POST', '/api/playground', {
      token: bob.token,
      body: {
        prompt: `behave:refuse ${aviary.make('prompt of the playground', 'bob')}`,
        models: ['gateway/fast'],
      },
    });
    for (const path of ['/api/auth/me', '/api/keys', '/api/usage', '/api/billing/ledger'])
      await traffic.ask('bob', 'GET', path, { token: bob.token });
    await traffic.ask('bob', 'GET', '/v1/models', { token: bob.key });
    for (const path of [
      '/health',
      '/health/ready',
      '/',
      '/docs/api',
      '/openapi.json',
      '/api/plans',
      '/metrics',
    ])
      await traffic.ask('a stranger', 'GET', path);
  }

  /** Everything once more while the database is away. */
  async function outage(ada: Person): Promise<void> {
    await traffic.chat(ada, 'whole');
    await rig.postgres.stop();
    await traffic.chat(ada, 'whole');
    await traffic.chat(ada, 'stream', { stream: true });
    const unknown = aviary.make('key in an outage', 'a stranger');
    await traffic.ask('a stranger', 'POST', '/v1/chat/completions', {
      token: `sk-pr-${unknown}`,
      body: { model: unknown },
    });
    await inTrouble(ada, 'an outage');
    keepFiles();
    await rig.postgres.start();
    await until(async () => (await fetch(`${rig.url}/api/plans`)).ok);
  }

  /** Statements that fail with everything that was in them. */
  async function brokenSchema(ada: Person): Promise<void> {
    const { pool } = rig.postgres;
    for (const table of [
      'accounts',
      'api_keys',
      'login_failures',
      'known_networks',
      'ended_sessions',
      'ledger_entries',
    ]) {
      await pool.query(`alter table ${table} rename to hidden`);
      await inTrouble(ada, `${table} gone`);
      await pool.query(`alter table hidden rename to ${table}`);
    }
    // A fault that quotes the row, as triggers and constraints do.
    await pool.query(`alter table accounts add constraint fussy check (name not like '%fussy%') not valid`);
    const name = `fussy ${aviary.make('name that a constraint quotes', 'a stranger')}`;
    const email = `${aviary.make('mail that a constraint quotes', 'a stranger')}@example.com`;
    const password = aviary.make('password beside a constraint');
    await traffic.ask('a stranger', 'POST', '/api/auth/signup', { body: { email, password, name } });
    await pool.query('alter table accounts drop constraint fussy');
    await pool.query(`alter table api_keys alter column name type varchar(10) using left(name, 10)`);
    await inTrouble(ada, 'a column too short');
    await pool.query('alter table api_keys alter column name type text');
    // A value of another type is quoted by the server's own message.
    await pool.query(`alter table api_keys alter column name type integer using 1`);
    await inTrouble(ada, 'a column of another type');
    await pool.query(`alter table api_keys alter column name type text`);
    // And a fault that the flush meets.
    await pool.query('alter table calls add constraint fussy check (failed) not valid');
    await traffic.chat(ada, 'whole');
    await until(() => keepFiles().some((path) => path.includes('dead-letters')), {
      timeoutMs: 60_000,
      what: 'a refused event',
    });
    await pool.query('alter table calls drop constraint fussy');
  }

  /** Calls that need the database, each with canaries of its own. */
  async function inTrouble(ada: Person, when: string): Promise<void> {
    const own = (what: string) => aviary.make(`${what} in ${when}`, 'ada');
    const never = (what: string) => aviary.make(`${what} in ${when}`, 'ada, never shown');
    const body = { email: `${own('mail')}@example.com`, password: never('password'), name: own('name') };
    await traffic.ask('ada', 'POST', '/api/auth/signup', { body });
    await traffic.ask('ada', 'POST', '/api/auth/login', {
      body: { email: ada.email, password: never('log-in') },
    });
    await traffic.ask('ada', 'GET', '/api/auth/me', { token: ada.token });
    await traffic.ask('ada', 'POST', '/api/keys', { token: ada.token, body: { name: own('key name') } });
    await traffic.ask('ada', 'PATCH', `/api/keys/${ada.keyId}`, {
      token: ada.token,
      body: { name: own('other key name') },
    });
    await traffic.ask('ada', 'POST', '/api/billing/topup', {
      token: ada.token,
      body: { amount_usd: 10 },
      headers: { 'idempotency-key': own('idempotency key') },
    });
  }

  /** Processes that are killed at work, and what is left of them. */
  async function deaths(ada: Person): Promise<void> {
    const running = traffic.chat(ada, 'endless', { stream: true, leave: false }).catch(() => undefined);
    await until(() => node.endless() > 0, { what: 'the endless answer' });
    await traffic.chat(ada, 'whole');
    await rig.edge.end('SIGKILL');
    keepFiles();
    await rig.edge.start();
    await running;
    await rig.platform.end('SIGKILL');
    await traffic.ask('ada', 'GET', '/api/auth/me', { token: ada.token });
    await rig.platform.start();
    await rig.jobs.end('SIGTERM');
    await rig.jobs.start();
  }

  /** Reads everything below the data folder but the database's own files; gives the paths. */
  function keepFiles(): string[] {
    const found: string[] = [];
    const walk = (path: string): void => {
      for (const name of readdirSync(path)) {
        const inner = join(path, name);
        if (statSync(inner).isDirectory()) walk(inner);
        else {
          found.push(inner);
          files.set(`${inner}@${files.size}`, readFileSync(inner, 'latin1'));
        }
      }
    };
    walk(rig.dataDir);
    return found;
  }

  const notAllowed = (findings: Finding[]): Finding[] =>
    findings.filter(
      ({ canary, where }) => !ALLOWED.some((one) => one.canary.test(canary) && one.where.test(where)),
    );
  const report = (findings: Finding[]) => expect(notAllowed(findings).slice(0, 8)).toEqual([]);

  test('are many, of many kinds, and arrived where they were sent', () => {
    expect(
      new Set(aviary.canaries.map(({ name }) => name.replace(/ (?:in|of|that|beside) .*/, ''))).size,
    ).toBeGreaterThanOrEqual(30);
    expect(aviary.canaries.length).toBeGreaterThan(200);
    // What isn't there can't leak: each way was taken.
    expect(traffic.replies.length).toBeGreaterThan(100);
    expect([...node.bearers]).toEqual([
      `Bearer ${aviary.canaries.find(({ name }) => name === 'node key')!.value}`,
    ]);
    const statuses = new Set(traffic.replies.map(({ text }) => text.slice(0, 3)));
    for (const status of [
      '200',
      '201',
      '204',
      '400',
      '401',
      '404',
      '409',
      '413',
      '415',
      '422',
      '500',
      '502',
      '503',
    ])
      expect([...statuses]).toContain(status);
    expect(files.size).toBeGreaterThan(0);
  });

  test('are in no log of any process', () => {
    for (const [name, output] of outputs) expect([name, output.length > 100]).toEqual([name, true]);
    report(outputs.flatMap(([name, output]) => findIn(output, aviary.canaries, `log of ${name}`)));
  });

  test('are in no trace, though one call goes through edge, platform and router', () => {
    report(receiver.bodies.flatMap((body) => findIn(body, aviary.canaries, 'trace')));
    const traces = Map.groupBy(receiver.spans, ({ traceId }) => traceId);
    const services = [...traces.values()].map((spans) =>
      [...new Set(spans.map(({ service }) => service))].sort(),
    );
    for (const wanted of [['gateway-edge'], ['gateway-edge', 'gateway-platform']])
      expect(services).toContainEqual(wanted);
    // Each span but the first has its parent in the same trace.
    const whole = [...traces.values()].find(
      (spans) =>
        new Set(spans.map(({ service }) => service)).size === 2 && spans.some(({ name }) => name === 'route'),
    )!;
    const ids = new Set(whole.map(({ spanId }) => spanId));
    const orphans = whole.filter(({ parentSpanId }) => !parentSpanId || !ids.has(parentSpanId));
    expect(orphans.map(({ service, name }) => [service, name])).toEqual([['gateway-edge', 'POST platform']]);
  });

  test("aren't in the output of a process that can't start", () => {
    expect(starts.filter((output) => output.length > 20).length).toBeGreaterThan(10);
    report(starts.flatMap((output) => findIn(output, aviary.canaries, `start of ${output.slice(0, 200)}`)));
  });

  test('are in no file: spool, dead letters', () => {
    expect([...files.keys()].some((path) => path.includes('spool'))).toBe(true);
    report([...files].flatMap(([path, text]) => findIn(text, aviary.canaries, `file ${path}`)));
  });

  test('are in no row except where they identify people', () => {
    // A partitioned table has its rows in its parts.
    const usage = [...dump].filter(([name]) => name.startsWith('public.calls'));
    expect(usage.flatMap(([, rows]) => rows).length).toBeGreaterThan(0);
    report([...dump].flatMap(([name, rows]) => findIn(rows.join('\n'), aviary.canaries, `database ${name}`)));
  });

  test('are in no reply except to their owner', () => {
    report(
      traffic.replies.flatMap(({ to, what, text }) =>
        findIn(
          text,
          aviary.canaries.filter(({ owner }) => owner !== to),
          `reply to ${to}: ${what}`,
        ),
      ),
    );
  });

  test('are found where they are allowed, so this search does see them', () => {
    const places = [...dump].flatMap(([name, rows]) =>
      findIn(rows.join('\n'), aviary.canaries, `database ${name}`),
    );
    const seen = ['ada mail', 'ada name', 'deployment of gateway/fast'];
    expect(places.map(({ canary }) => canary)).toEqual(expect.arrayContaining(seen));
    const value = aviary.canaries[0]!.value;
    for (const text of [
      value.toUpperCase(),
      Buffer.from(`x${value}`).toString('base64'),
      `\\x${Buffer.from(value).toString('hex')}`,
    ])
      expect(findIn(text, aviary.canaries, 'here')).toHaveLength(1);
  });
});

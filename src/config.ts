import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  bodyFields,
  cidrs,
  email,
  flag,
  headerList,
  mailFrom,
  oneOf,
  port,
  seconds,
  share,
  text,
  url,
  whole,
} from './config-fields.js';
import { checkDataDir, dataDirFault } from './lib/data-dir.js';
import { generatedSecret } from './lib/generated-secret.js';
import { PASSWORD_PROFILES, type PasswordHashing } from './lib/password-profiles.js';
import { withoutEndSlashes } from './lib/trim-end.js';
import { isWeakSecret } from './lib/weak-secret.js';

/** The only reader of process.env. Names and defaults are those of the run contract (docs/operations.md). */

export type ProcessRole = 'launcher' | 'edge' | 'platform' | 'jobs' | 'proxy';

const MIN_SECRET_BYTES = 32;
const MOST_MONTHS = 1_200;
const MOST_EDGES = 64;
/** What is small is kept so long, or as long as usage. */
const HISTORY_MONTHS = 26;

const secret = z.string().min(1);

const schema = z.object({
  NODE_ENV: oneOf(['production', 'development', 'test']).default('development'),
  PORT: port.default(8080),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_BASE_URL: url(/^https?$/, 'http or https').optional(),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: url(/^postgres(?:ql)?$/, 'postgres').optional(),
  DATABASE_DIRECT_URL: url(/^postgres(?:ql)?$/, 'postgres').optional(),
  REDIS_URL: url(/^rediss?$/, 'redis').optional(),
  PLATFORM_URL: url(/^https?$/, 'http or https').optional(),
  PLATFORM_PORT: port.optional(),
  PROXY_PORT: port.optional(),
  TRUST_PROXY: cidrs.default([]),
  PROXY_CONFIG: z.string().default('proxy.config.yaml'),
  UPSTREAM_URL: url(/^https?$/, 'http or https').optional(),
  UPSTREAM_MASTER_KEY: secret.optional(),
  ALLOW_SIMULATOR: flag.default(false),
  ALLOWED_BODY_FIELDS: bodyFields.default([]),
  RESPONSES_API: flag.default(false),
  SIMULATOR_CONTROLS: flag.optional(),
  JWT_SECRET: secret.optional(),
  JWT_SECRET_PREVIOUS: secret.optional(),
  ENCRYPTION_KEY: secret.optional(),
  ENCRYPTION_KEY_PREVIOUS: secret.optional(),
  WEBHOOK_SECRET: secret.optional(),
  WEBHOOK_ALLOW_PRIVATE: flag.default(false),
  MEDIA_ALLOW_PRIVATE: flag.default(false),
  ACCESS_TOKEN_TTL_SECONDS: seconds.default(3600),
  PASSWORD_HASH_PROFILE: oneOf(['owasp', 'test']).default('owasp'),
  SMTP_URL: url(/^smtps?$/, 'smtp').optional(),
  MAIL_FROM: mailFrom.optional(),
  ADMIN_EMAIL: email.optional(),
  ADMIN_PASSWORD: text(8, 128).optional(),
  GPU_HEARTBEAT_SECRET: secret.optional(),
  GPU_STALE_AFTER_SECONDS: seconds.default(180),
  GPU_SWEEP_INTERVAL_SECONDS: seconds.default(30),
  UPSTREAM_TIMEOUT_SECONDS: seconds.default(600),
  UPSTREAM_IDLE_SECONDS: seconds.default(120),
  DISABLE_BACKGROUND_TASKS: flag.default(false),
  PLAYGROUND_RUNS_PER_MINUTE: whole(1).optional(),
  PLAYGROUND_RUNS_PER_DAY: whole(1).default(500),
  PLAYGROUND_OUTPUT_TOKENS_PER_DAY: whole(1).default(100_000),
  PLAYGROUND_INPUT_TOKENS_PER_DAY: whole(1).default(2_000_000),
  SIGNUPS_PER_NETWORK_PER_DAY: whole(0).default(20),
  LEADERBOARD_MIN_ACCOUNTS: whole(1, 1_000_000).optional(),
  USAGE_RETENTION_MONTHS: whole(1, MOST_MONTHS).default(13),
  HISTORY_RETENTION_MONTHS: whole(13, MOST_MONTHS).optional(),
  USAGE_PARTITIONS: oneOf(['month', 'day']).default('month'),
  GRAPHQL_INTROSPECTION: flag.optional(),
  EDGE_PROCESSES: z
    .union([z.literal('auto'), whole(1, MOST_EDGES)], `must be auto or an integer from 1 to ${MOST_EDGES}`)
    .default(1),
  METRICS_PORT: port.optional(),
  METRICS_HOST: z.string().default('127.0.0.1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(/^https?$/, 'http or https').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headerList.optional(),
  OTEL_TRACES_SAMPLER_ARG: share.default(1),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

type Raw = z.infer<typeof schema>;

/** Every fault of the environment at once, one line each, naming the variable. */
export class ConfigError extends Error {
  constructor(readonly lines: string[]) {
    super(lines.join('\n'));
    this.name = 'ConfigError';
  }
}

const STARRED = [
  'DATABASE_URL',
  'UPSTREAM_MASTER_KEY',
  'JWT_SECRET',
  'ENCRYPTION_KEY',
  'WEBHOOK_SECRET',
] as const;
const SECRETS = ['UPSTREAM_MASTER_KEY', 'JWT_SECRET', 'ENCRYPTION_KEY', 'WEBHOOK_SECRET'] as const;
const OPTIONAL_SECRETS = ['JWT_SECRET_PREVIOUS', 'ENCRYPTION_KEY_PREVIOUS', 'GPU_HEARTBEAT_SECRET'] as const;

function productionFaults(raw: Raw): string[] {
  const faults: string[] = [];
  for (const name of STARRED) {
    if (raw[name] === undefined) faults.push(`${name}: must be set in production`);
  }
  const seen = new Map<string, string>();
  for (const name of [...SECRETS, ...OPTIONAL_SECRETS]) {
    const value = raw[name];
    if (value === undefined) continue;
    const twin = seen.get(value);
    if (isWeakSecret(value)) {
      faults.push(
        `${name}: is well known or easy to guess; generate a random one, for example with: openssl rand -base64 48`,
      );
    } else if (Buffer.byteLength(value) < MIN_SECRET_BYTES) {
      faults.push(`${name}: must have at least ${MIN_SECRET_BYTES} bytes in production`);
    } else if (twin) {
      faults.push(`${name}: has the same value as ${twin}; use a different one`);
    }
    seen.set(value, twin ?? name);
  }
  if (raw.PASSWORD_HASH_PROFILE === 'test') {
    faults.push(
      'PASSWORD_HASH_PROFILE: "test" is only for tests and doesn\'t protect passwords; unset it in production',
    );
  }
  return faults;
}

/** What a process can't do without when it is started alone; `npm start` sets these for its children. */
function roleFaults(raw: Raw, role: ProcessRole): string[] {
  const faults: string[] = [];
  if (role !== 'launcher' && raw.DATABASE_URL === undefined && raw.NODE_ENV !== 'production') {
    faults.push(
      'DATABASE_URL: must be set when a process is started on its own (npm start provides a database)',
    );
  }
  if (role === 'edge' && raw.PLATFORM_URL === undefined) {
    faults.push(
      'PLATFORM_URL: must be set when the edge is started on its own, for example http://127.0.0.1:8081',
    );
  }
  if ((role === 'edge' || role === 'platform') && raw.UPSTREAM_URL === undefined && !raw.PROXY_PORT) {
    faults.push('UPSTREAM_URL: must be set (or PROXY_PORT, for a bundled model proxy on this machine)');
  }
  return faults;
}

/** The way past a pooler leads to the same database, so that there has to be one. */
function databaseFaults(raw: Raw): string[] {
  if (raw.DATABASE_DIRECT_URL === undefined || raw.DATABASE_URL !== undefined) return [];
  return ['DATABASE_DIRECT_URL: also set DATABASE_URL, the address of the same database through the pooler'];
}

/** Sums must outlive what they are the sums of. */
function retentionFaults({
  HISTORY_RETENTION_MONTHS: history,
  USAGE_RETENTION_MONTHS: usage,
}: Raw): string[] {
  if (history === undefined || history >= usage) return [];
  return [`HISTORY_RETENTION_MONTHS: must be at least USAGE_RETENTION_MONTHS, which is ${usage}`];
}

/** `auto`: one for each core but one, which the other processes have. */
function edgeProcesses({ EDGE_PROCESSES: edges }: Raw): number {
  return edges === 'auto' ? Math.min(MOST_EDGES, Math.max(1, availableParallelism() - 1)) : edges;
}

/** `npm start` gives its processes the metrics ports N to N+3, and N+4 and up to further edges. */
const METRICS_PORTS = 4;

/** Listeners of one installation whose ports must differ. */
function portFaults(raw: Raw): string[] {
  const faults: string[] = [];
  const first = raw.METRICS_PORT || undefined;
  const next = METRICS_PORTS + edgeProcesses(raw) - 2;
  const last = first && first + next;
  if (last && last > 65_535) {
    faults.push(
      `METRICS_PORT: ${first} is too high: npm start uses it and the next ${next === 3 ? 'three' : next}; the maximum is ${65_535 - next}`,
    );
  }
  const seen = new Map<number, string>();
  for (const name of ['PORT', 'PLATFORM_PORT', 'PROXY_PORT'] as const) {
    const value = raw[name];
    if (!value) continue;
    const twin = seen.get(value);
    if (twin) faults.push(`${name}: ${value} is also the value of ${twin}`);
    seen.set(value, name);
    if (first && last && value >= first && value <= last) {
      faults.push(`METRICS_PORT: npm start uses ${first} to ${last}, and ${value} is ${name}`);
    }
  }
  return faults;
}

function readRaw(env: NodeJS.ProcessEnv): { raw?: Raw; faults: string[] } {
  // An empty variable means "not set": compose files pass on what isn't there as "".
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = schema.safeParse(present);
  if (result.success) return { raw: result.data, faults: [] };
  return { faults: result.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`) };
}

function resolveSecrets(raw: Raw, dataDir: string): Record<(typeof SECRETS)[number], string> {
  const entries = SECRETS.map((name) => [name, raw[name] ?? generatedSecret(dataDir, name)] as const);
  return Object.fromEntries(entries) as Record<(typeof SECRETS)[number], string>;
}

/** Launcher and edge can't do without DATA_DIR; the others only where they generate or read a secret there. */
function useDataDir<T>(dataDir: string, role: ProcessRole, use: () => T): T {
  try {
    if (role === 'launcher' || role === 'edge') checkDataDir(dataDir);
    return use();
  } catch (error) {
    throw new ConfigError([`DATA_DIR: ${dataDirFault(dataDir, error)}`]);
  }
}

/**
 * Reads and checks the environment for one process.
 * @throws ConfigError with one line per fault.
 */
export function loadConfig(env: NodeJS.ProcessEnv, role: ProcessRole) {
  const { raw, faults } = readRaw(env);
  if (!raw) throw new ConfigError(faults);
  const production = raw.NODE_ENV === 'production';
  faults.push(
    ...(production ? productionFaults(raw) : []),
    ...roleFaults(raw, role),
    ...databaseFaults(raw),
    ...retentionFaults(raw),
  );
  if (role === 'launcher') faults.push(...portFaults(raw));
  if (faults.length > 0) throw new ConfigError(faults);
  const dataDir = resolve(raw.DATA_DIR);
  const publicBaseUrl = withoutEndSlashes(raw.PUBLIC_BASE_URL ?? `http://localhost:${raw.PORT}`);
  const secrets = useDataDir(dataDir, role, () => resolveSecrets(raw, dataDir));
  return {
    role,
    production,
    /** `NODE_ENV=test`. */
    test: raw.NODE_ENV === 'test',
    port: raw.PORT,
    host: raw.HOST,
    publicBaseUrl,
    dataDir,
    databaseUrl: raw.DATABASE_URL ?? null,
    /** The same database past a pooler, for what belongs to a session: LISTEN, lasting locks, migrations. */
    databaseDirectUrl: raw.DATABASE_DIRECT_URL ?? raw.DATABASE_URL ?? null,
    redisUrl: raw.REDIS_URL ?? null,
    platformUrl: raw.PLATFORM_URL ?? null,
    platformPort: raw.PLATFORM_PORT ?? 0,
    proxyPort: raw.PROXY_PORT ?? 0,
    trustProxy: raw.TRUST_PROXY,
    proxyConfigPath: resolve(raw.PROXY_CONFIG),
    /** Whether an external model proxy stands upstream. */
    externalUpstream: raw.UPSTREAM_URL !== undefined,
    upstreamUrl: withoutEndSlashes(raw.UPSTREAM_URL ?? `http://127.0.0.1:${raw.PROXY_PORT ?? 0}`),
    upstreamMasterKey: secrets.UPSTREAM_MASTER_KEY,
    upstreamTimeoutMs: raw.UPSTREAM_TIMEOUT_SECONDS * 1000,
    upstreamIdleMs: raw.UPSTREAM_IDLE_SECONDS * 1000,
    allowSimulator: raw.ALLOW_SIMULATOR,
    /** Members of `/v1` bodies that go upstream beside the known ones. */
    allowedBodyFields: raw.ALLOWED_BODY_FIELDS,
    /** Whether `POST /v1/responses` answers. */
    responsesApi: raw.RESPONSES_API,
    /** Whether prompts can make the simulator fail or slow down. */
    simulatorControls: raw.SIMULATOR_CONTROLS ?? !production,
    jwtSecret: secrets.JWT_SECRET,
    jwtSecretPrevious: raw.JWT_SECRET_PREVIOUS,
    encryptionKey: secrets.ENCRYPTION_KEY,
    encryptionKeyPrevious: raw.ENCRYPTION_KEY_PREVIOUS,
    accessTokenTtlSeconds: raw.ACCESS_TOKEN_TTL_SECONDS,
    /** What a hash of a password costs. */
    passwordHashing: PASSWORD_PROFILES[raw.PASSWORD_HASH_PROFILE] as PasswordHashing,
    /** Signs every webhook of this installation. */
    webhookSecret: secrets.WEBHOOK_SECRET,
    webhookAllowPrivate: raw.WEBHOOK_ALLOW_PRIVATE,
    /** Whether bodies may name media at addresses of private networks. */
    mediaAllowPrivate: raw.MEDIA_ALLOW_PRIVATE,
    /** Null: mail isn't configured. */
    mail: raw.SMTP_URL
      ? { smtpUrl: raw.SMTP_URL, from: raw.MAIL_FROM ?? `no-reply@${new URL(publicBaseUrl).hostname}` }
      : null,
    adminEmail: raw.ADMIN_EMAIL ?? null,
    adminPassword: raw.ADMIN_PASSWORD ?? null,
    backgroundTasks: !raw.DISABLE_BACKGROUND_TASKS && raw.NODE_ENV !== 'test',
    /** Bearer of `/api/internal`. */
    gpuHeartbeatSecret: raw.GPU_HEARTBEAT_SECRET,
    gpuStaleAfterMs: raw.GPU_STALE_AFTER_SECONDS * 1000,
    gpuSweepIntervalMs: raw.GPU_SWEEP_INTERVAL_SECONDS * 1000,
    /** Bounds of an account in the model playground; null: four times the plan's requests per minute. */
    playgroundRunsPerMinute: raw.PLAYGROUND_RUNS_PER_MINUTE ?? null,
    playgroundRunsPerDay: raw.PLAYGROUND_RUNS_PER_DAY,
    playgroundOutputTokensPerDay: raw.PLAYGROUND_OUTPUT_TOKENS_PER_DAY,
    playgroundInputTokensPerDay: raw.PLAYGROUND_INPUT_TOKENS_PER_DAY,
    signupsPerNetworkPerDay: raw.SIGNUPS_PER_NETWORK_PER_DAY,
    /** Accounts that have to use a model before the leaderboard shows its figures. */
    leaderboardMinAccounts: raw.LEADERBOARD_MIN_ACCOUNTS ?? (production ? 3 : 1),
    /** Months that usage events are kept, and that sums and alert events are. */
    usageRetentionMonths: raw.USAGE_RETENTION_MONTHS,
    historyRetentionMonths:
      raw.HISTORY_RETENTION_MONTHS ?? Math.max(HISTORY_MONTHS, raw.USAGE_RETENTION_MONTHS),
    /** What one partition of the usage events holds. */
    usagePartitions: raw.USAGE_PARTITIONS,
    /** Whether GraphQL introspection is on. */
    graphqlIntrospection: raw.GRAPHQL_INTROSPECTION ?? !production,
    /** Edges that `npm start` runs on the public port. */
    edgeProcesses: edgeProcesses(raw),
    metricsPort: raw.METRICS_PORT ?? null,
    metricsHost: raw.METRICS_HOST,
    /** Where traces go, and which share of them; null: nothing is traced. */
    tracing: raw.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: raw.OTEL_EXPORTER_OTLP_ENDPOINT,
          headers: raw.OTEL_EXPORTER_OTLP_HEADERS ?? {},
          ratio: raw.OTEL_TRACES_SAMPLER_ARG,
        }
      : null,
    logLevel: raw.LOG_LEVEL,
    /** The rest of the environment, for `os.environ/NAME` in the proxy's configuration and for children. */
    environment: env,
  };
}

export type Config = ReturnType<typeof loadConfig>;

/** Loads the configuration of this process or ends it with the faults on stderr, one line each. */
export function loadConfigOrExit(role: ProcessRole): Config {
  try {
    return loadConfig(process.env, role);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const line of error.lines) process.stderr.write(`configuration: ${line}\n`);
    process.exit(78);
  }
}

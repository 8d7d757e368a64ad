import { resolve } from 'node:path';
import { edgeProcesses, faultsOf, SECRETS } from './config-faults.js';
import { type ProcessRole, type RawConfig, readRaw } from './config-schema.js';
import { checkDataDir, dataDirFault } from './lib/data-dir.js';
import { generatedSecret } from './lib/generated-secret.js';
import { CONFIG_EXIT_CODE } from './lib/lifecycle.js';
import { PASSWORD_PROFILES, type PasswordHashing } from './lib/password-profiles.js';
import { withoutEndSlashes } from './lib/trim-end.js';

/** The only reader of process.env. docs/operations.md lists names and defaults. */

/** Default retention of roll-ups and alerts, unless usage is kept longer. */
const HISTORY_MONTHS = 26;
/** Default port of `npm run start:proxy`, the same as LiteLLM's. */
const PROXY_PORT = 4_000;

/** All faults of the environment, one line each, naming the variable. */
export class ConfigError extends Error {
  constructor(readonly lines: string[]) {
    super(lines.join('\n'));
    this.name = 'ConfigError';
  }
}

function resolveSecrets(raw: RawConfig, dataDir: string): Record<(typeof SECRETS)[number], string> {
  const entries = SECRETS.map((name) => [name, raw[name] ?? generatedSecret(dataDir, name)] as const);
  return Object.fromEntries(entries) as Record<(typeof SECRETS)[number], string>;
}

/**
 * The launcher and the edge always need DATA_DIR, commands if the database is there, and the others only if they generate or
 * read a secret there.
 */
function useDataDir<T>(dataDir: string, role: ProcessRole, raw: RawConfig, use: () => T): T {
  const isCommandInIt = role === 'cli' && raw.DATABASE_URL === undefined;
  try {
    if (role === 'launcher' || role === 'edge' || isCommandInIt) checkDataDir(dataDir);
    return use();
  } catch (error) {
    throw new ConfigError([`DATA_DIR: ${dataDirFault(dataDir, error)}`]);
  }
}

const LAST_WRITES_MS = 7_000;
const LAST_WRITES_PART = 0.2;
const drainMsOf = (stopMs: number): number =>
  Math.max(stopMs - LAST_WRITES_MS, stopMs * (1 - LAST_WRITES_PART));

/**
 * Reads and checks the environment for one process.
 * @throws ConfigError with one line per fault.
 */
export function loadConfig(env: NodeJS.ProcessEnv, role: ProcessRole) {
  const { raw, faults } = readRaw(env);
  if (!raw) throw new ConfigError(faults);
  const clashes = faultsOf(raw, role);
  if (clashes.length > 0) throw new ConfigError(clashes);
  const production = raw.NODE_ENV === 'production';
  const dataDir = resolve(raw.DATA_DIR);
  const publicBaseUrl = withoutEndSlashes(raw.PUBLIC_BASE_URL ?? `http://localhost:${raw.PORT}`);
  const secrets = useDataDir(dataDir, role, raw, () => resolveSecrets(raw, dataDir));
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
    /** The same database past a pooler, for what needs a session: LISTEN, lasting locks, migrations. */
    databaseDirectUrl: raw.DATABASE_DIRECT_URL ?? raw.DATABASE_URL ?? null,
    redisUrl: raw.REDIS_URL ?? null,
    /** Addresses of the platforms; null where no edge runs. */
    platformUrls: raw.PLATFORM_URL ?? null,
    platformPort: raw.PLATFORM_PORT ?? 0,
    proxyPort: raw.PROXY_PORT ?? PROXY_PORT,
    trustProxy: raw.TRUST_PROXY,
    proxyConfigPath: resolve(raw.PROXY_CONFIG),
    /** Address of the model proxy, without a slash at the end; null if the router runs in edge and platform. */
    upstreamUrl: raw.UPSTREAM_URL === undefined ? null : withoutEndSlashes(raw.UPSTREAM_URL),
    upstreamMasterKey: secrets.UPSTREAM_MASTER_KEY,
    upstreamTimeoutMs: raw.UPSTREAM_TIMEOUT_SECONDS * 1000,
    upstreamIdleMs: raw.UPSTREAM_IDLE_SECONDS * 1000,
    /** Milliseconds that calls in flight have after a signal. */
    drainMs: drainMsOf(raw.DRAIN_SECONDS * 1000),
    /** Milliseconds in which edge and model proxy end after a signal, with what is left to write. */
    stopMs: drainMsOf(raw.DRAIN_SECONDS * 1000) + LAST_WRITES_MS,
    allowSimulator: raw.ALLOW_SIMULATOR,
    /** Members of `/v1` bodies to forward in addition to the known ones. */
    allowedBodyFields: raw.ALLOWED_BODY_FIELDS,
    /** Whether `POST /v1/responses` is on. */
    responsesApi: raw.RESPONSES_API,
    /** Whether prompts can make the simulator fail or slow down. */
    simulatorControls: raw.SIMULATOR_CONTROLS ?? !production,
    jwtSecret: secrets.JWT_SECRET,
    jwtSecretPrevious: raw.JWT_SECRET_PREVIOUS,
    encryptionKey: secrets.ENCRYPTION_KEY,
    encryptionKeyPrevious: raw.ENCRYPTION_KEY_PREVIOUS,
    accessTokenTtlSeconds: raw.ACCESS_TOKEN_TTL_SECONDS,
    /** Cost of hashing a password. */
    passwordHashing: PASSWORD_PROFILES[raw.PASSWORD_HASH_PROFILE] as PasswordHashing,
    /** Signs every webhook of this installation. */
    webhookSecret: secrets.WEBHOOK_SECRET,
    webhookAllowPrivate: raw.WEBHOOK_ALLOW_PRIVATE,
    /** Whether bodies may name media at addresses of private networks. */
    mediaAllowPrivate: raw.MEDIA_ALLOW_PRIVATE,
    /** Whether users can add credit themselves, without paying, or not at all. */
    topUp: raw.TOPUP ?? (production ? 'off' : 'mock'),
    /** Null: mail isn't configured. */
    mail: raw.SMTP_URL
      ? { smtpUrl: raw.SMTP_URL, from: raw.MAIL_FROM ?? `no-reply@${new URL(publicBaseUrl).hostname}` }
      : null,
    adminEmail: raw.ADMIN_EMAIL ?? null,
    adminPassword: raw.ADMIN_PASSWORD ?? null,
    backgroundTasks: !raw.DISABLE_BACKGROUND_TASKS && raw.NODE_ENV !== 'test',
    /** Bearer token of `/api/internal`. */
    gpuHeartbeatSecret: raw.GPU_HEARTBEAT_SECRET,
    /** Accepted as well while nodes get the new one. */
    gpuHeartbeatSecretPrevious: raw.GPU_HEARTBEAT_SECRET_PREVIOUS,
    gpuStaleAfterMs: raw.GPU_STALE_AFTER_SECONDS * 1000,
    gpuSweepIntervalMs: raw.GPU_SWEEP_INTERVAL_SECONDS * 1000,
    /** Limits of an account in the model playground. Null: four times the plan's requests per minute. */
    playgroundRunsPerMinute: raw.PLAYGROUND_RUNS_PER_MINUTE ?? null,
    playgroundRunsPerDay: raw.PLAYGROUND_RUNS_PER_DAY,
    playgroundOutputTokensPerDay: raw.PLAYGROUND_OUTPUT_TOKENS_PER_DAY,
    playgroundInputTokensPerDay: raw.PLAYGROUND_INPUT_TOKENS_PER_DAY,
    signupsPerNetworkPerDay: raw.SIGNUPS_PER_NETWORK_PER_DAY,
    /** Number of accounts that must use a model before the leaderboard shows its figures. */
    leaderboardMinAccounts: raw.LEADERBOARD_MIN_ACCOUNTS ?? (production ? 3 : 1),
    /** Retention of usage events, and of roll-ups and alert events. */
    usageRetentionMonths: raw.USAGE_RETENTION_MONTHS,
    historyRetentionMonths:
      raw.HISTORY_RETENTION_MONTHS ?? Math.max(HISTORY_MONTHS, raw.USAGE_RETENTION_MONTHS),
    /** Whether a partition of the usage events holds a month or a day. */
    usagePartitions: raw.USAGE_PARTITIONS,
    /** Whether GraphQL introspection is on. */
    graphqlIntrospection: raw.GRAPHQL_INTROSPECTION ?? !production,
    /** Edges that `npm start` runs on the public port. */
    edgeProcesses: edgeProcesses(raw),
    /** Time of silence after which `npm start` kills a process; 0: never. */
    hungAfterMs: raw.HUNG_AFTER_SECONDS * 1000,
    metricsPort: raw.METRICS_PORT ?? null,
    metricsHost: raw.METRICS_HOST,
    /** Where to send which share of traces; null if tracing is off. */
    tracing: raw.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: raw.OTEL_EXPORTER_OTLP_ENDPOINT,
          headers: raw.OTEL_EXPORTER_OTLP_HEADERS ?? {},
          ratio: raw.OTEL_TRACES_SAMPLER_ARG,
        }
      : null,
    logLevel: raw.LOG_LEVEL,
    /** The whole environment, for `os.environ/NAME` in the routing file and for children. */
    environment: env,
  };
}

export type Config = ReturnType<typeof loadConfig>;

/** Loads the configuration of this process. If it is invalid, prints the faults to stderr, one line each, and exits. */
export const loadConfigOrExit = (role: ProcessRole): Config => orExit(() => loadConfig(process.env, role));

/** Reads DATA_DIR alone, for a program that creates nothing there. Exits like `loadConfigOrExit` on a fault. */
export const dataDirOrExit = (): string =>
  orExit(() => {
    const { raw, faults } = readRaw(process.env);
    if (!raw) throw new ConfigError(faults);
    return resolve(raw.DATA_DIR);
  });

function orExit<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const line of error.lines) process.stderr.write(`configuration: ${line}\n`);
    process.exit(CONFIG_EXIT_CODE);
  }
}

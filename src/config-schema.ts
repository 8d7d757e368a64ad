import { z } from 'zod';
import {
  bodyFields,
  cidrs,
  envFlag,
  envOneOf,
  envText,
  envWhole,
  hasRedisDatabase,
  headerList,
  mailFrom,
  port,
  sameUrls,
  seconds,
  secondsOrNever,
  share,
  url,
} from './config-fields.js';
import { addressInput } from './lib/email-input.js';

/** Every environment variable with its form and default (docs/operations.md). */

/** `cli` is a command that only needs the database. */
export type ProcessRole = 'launcher' | 'edge' | 'platform' | 'jobs' | 'proxy' | 'cli';

const MOST_MONTHS = 1_200;
export const MOST_EDGES = 64;

const secret = z.string().min(1);
const database = url(/^postgres(?:ql)?$/, 'postgres', 'postgres://user:password@127.0.0.1:5432/gateway');

const schema = z.object({
  NODE_ENV: envOneOf(['production', 'development', 'test']).default('development'),
  PORT: port.default(8080),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_BASE_URL: url(/^https?$/, 'http or https', 'https://gateway.example.com').optional(),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: database.optional(),
  DATABASE_DIRECT_URL: database.optional(),
  NODE_EXTRA_CA_CERTS: z.string().optional(),
  REDIS_URL: url(/^rediss?$/, 'redis', 'redis://127.0.0.1:6379')
    .refine(hasRedisDatabase, 'the database after the host must be a number from 0 to 15')
    .optional(),
  PLATFORM_URL: sameUrls(/^https?$/, 'http or https', 'http://127.0.0.1:3000').optional(),
  PLATFORM_PORT: port.optional(),
  PROXY_PORT: port.optional(),
  TRUST_PROXY: cidrs.default([]),
  PROXY_CONFIG: z.string().default('proxy.config.yaml'),
  UPSTREAM_URL: url(/^https?$/, 'http or https', 'http://127.0.0.1:4000').optional(),
  UPSTREAM_MASTER_KEY: secret.optional(),
  ALLOW_SIMULATOR: envFlag.default(false),
  ALLOWED_BODY_FIELDS: bodyFields.default([]),
  RESPONSES_API: envFlag.default(false),
  SIMULATOR_CONTROLS: envFlag.optional(),
  JWT_SECRET: secret.optional(),
  JWT_SECRET_PREVIOUS: secret.optional(),
  ENCRYPTION_KEY: secret.optional(),
  ENCRYPTION_KEY_PREVIOUS: secret.optional(),
  WEBHOOK_SECRET: secret.optional(),
  WEBHOOK_ALLOW_PRIVATE: envFlag.default(false),
  MEDIA_ALLOW_PRIVATE: envFlag.default(false),
  ACCESS_TOKEN_TTL_SECONDS: seconds.default(3600),
  PASSWORD_HASH_PROFILE: envOneOf(['owasp', 'test']).default('owasp'),
  TOPUP: envOneOf(['mock', 'off']).optional(),
  SMTP_URL: url(/^smtps?$/, 'smtp', 'smtp://user:password@mail.example.com:587').optional(),
  MAIL_FROM: mailFrom.optional(),
  ADMIN_EMAIL: addressInput.optional(),
  ADMIN_PASSWORD: envText(8, 128).optional(),
  GPU_HEARTBEAT_SECRET: secret.optional(),
  GPU_HEARTBEAT_SECRET_PREVIOUS: secret.optional(),
  GPU_STALE_AFTER_SECONDS: seconds.default(180),
  GPU_SWEEP_INTERVAL_SECONDS: seconds.default(30),
  UPSTREAM_TIMEOUT_SECONDS: seconds.default(600),
  UPSTREAM_IDLE_SECONDS: seconds.default(120),
  DRAIN_SECONDS: seconds.default(35),
  DISABLE_BACKGROUND_TASKS: envFlag.default(false),
  PLAYGROUND_RUNS_PER_MINUTE: envWhole(1).optional(),
  PLAYGROUND_RUNS_PER_DAY: envWhole(1).default(500),
  PLAYGROUND_OUTPUT_TOKENS_PER_DAY: envWhole(1).default(100_000),
  PLAYGROUND_INPUT_TOKENS_PER_DAY: envWhole(1).default(2_000_000),
  SIGNUPS_PER_NETWORK_PER_DAY: envWhole(0).default(20),
  LEADERBOARD_MIN_ACCOUNTS: envWhole(1, 1_000_000).optional(),
  USAGE_RETENTION_MONTHS: envWhole(1, MOST_MONTHS).default(13),
  HISTORY_RETENTION_MONTHS: envWhole(13, MOST_MONTHS).optional(),
  USAGE_PARTITIONS: envOneOf(['month', 'day']).default('month'),
  GRAPHQL_INTROSPECTION: envFlag.optional(),
  EDGE_PROCESSES: z
    .union([z.literal('auto'), envWhole(1, MOST_EDGES)], `must be auto or an integer from 1 to ${MOST_EDGES}`)
    .default(1),
  HUNG_AFTER_SECONDS: secondsOrNever.default(60),
  METRICS_PORT: port.optional(),
  METRICS_HOST: z.string().default('127.0.0.1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(/^https?$/, 'http or https', 'http://127.0.0.1:4318').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headerList.optional(),
  OTEL_TRACES_SAMPLER_ARG: share.default(1),
  LOG_LEVEL: envOneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/** The variables of one environment. */
export type RawConfig = z.infer<typeof schema>;

/** Parses the variables one by one; `faults` has a line for each invalid one. */
export function readRaw(env: NodeJS.ProcessEnv): { raw?: RawConfig; faults: string[] } {
  // An empty variable counts as not set: compose files pass unset variables as "".
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = schema.safeParse(present);
  if (result.success) return { raw: result.data, faults: [] };
  return { faults: result.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`) };
}

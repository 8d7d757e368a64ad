import { accessSync, constants } from 'node:fs';
import { availableParallelism } from 'node:os';
import { MOST_EDGES, type ProcessRole, type RawConfig } from './config-schema.js';
import { isWeakSecret } from './lib/weak-secret.js';

/** Faults in combinations of variables that are valid by themselves. Each fault is one line that names a variable. */

const MIN_SECRET_BYTES = 32;
const STARRED = [
  'DATABASE_URL',
  'UPSTREAM_MASTER_KEY',
  'JWT_SECRET',
  'ENCRYPTION_KEY',
  'WEBHOOK_SECRET',
] as const;
export const SECRETS = ['UPSTREAM_MASTER_KEY', 'JWT_SECRET', 'ENCRYPTION_KEY', 'WEBHOOK_SECRET'] as const;
const OPTIONAL_SECRETS = [
  'JWT_SECRET_PREVIOUS',
  'ENCRYPTION_KEY_PREVIOUS',
  'GPU_HEARTBEAT_SECRET',
  'GPU_HEARTBEAT_SECRET_PREVIOUS',
] as const;

function productionFaults(raw: RawConfig): string[] {
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

/** Variables that a process started alone requires; `npm start` sets them for its children. */
function roleFaults(raw: RawConfig, role: ProcessRole): string[] {
  const faults: string[] = [];
  const needsDatabase = role !== 'launcher' && role !== 'cli';
  if (needsDatabase && raw.DATABASE_URL === undefined && raw.NODE_ENV !== 'production') {
    faults.push(
      'DATABASE_URL: must be set when a process is started on its own (npm start provides a database)',
    );
  }
  if (role === 'edge' && raw.PLATFORM_URL === undefined) {
    faults.push(
      'PLATFORM_URL: must be set when the edge is started on its own, for example http://127.0.0.1:8081',
    );
  }
  return faults;
}

/** A previous secret alone would disable the routes that it belongs to. */
function rotationFaults(raw: RawConfig): string[] {
  if (raw.GPU_HEARTBEAT_SECRET_PREVIOUS === undefined || raw.GPU_HEARTBEAT_SECRET !== undefined) return [];
  return ['GPU_HEARTBEAT_SECRET_PREVIOUS: also set GPU_HEARTBEAT_SECRET'];
}

/** DATABASE_DIRECT_URL is a second address of the database at DATABASE_URL, so it requires that. */
function databaseFaults(raw: RawConfig): string[] {
  if (raw.DATABASE_DIRECT_URL === undefined || raw.DATABASE_URL !== undefined) return [];
  return ['DATABASE_DIRECT_URL: also set DATABASE_URL, the address of the same database through the pooler'];
}

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** What keeps TLS connections from being made. Without this, a process would wait for its database, or trust fewer CAs. */
function tlsFaults(raw: RawConfig): string[] {
  const faults: string[] = [];
  const needFile = (name: string, path: string | null | undefined): void => {
    if (path && !isReadable(path)) faults.push(`${name}: this process can't read the file ${path}`);
  };
  needFile('NODE_EXTRA_CA_CERTS', raw.NODE_EXTRA_CA_CERTS);
  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL'] as const) {
    const { searchParams } = new URL(raw[name] ?? 'postgres://unset');
    const mode = searchParams.get('sslmode');
    if (mode !== null && !SSL_MODES.includes(mode)) {
      faults.push(`${name}: sslmode must be ${SSL_MODES.slice(0, -1).join(', ')} or ${SSL_MODES.at(-1)}`);
    }
    for (const file of SSL_FILES) needFile(`${name}: ${file}`, searchParams.get(file));
  }
  return faults;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Roll-ups must be kept at least as long as the events they sum up. */
function retentionFaults({
  HISTORY_RETENTION_MONTHS: history,
  USAGE_RETENTION_MONTHS: usage,
}: RawConfig): string[] {
  if (history === undefined || history >= usage) return [];
  return [`HISTORY_RETENTION_MONTHS: must be at least USAGE_RETENTION_MONTHS, which is ${usage}`];
}

/** `auto`: one edge per core, minus one core for the other processes. */
export function edgeProcesses({ EDGE_PROCESSES: edges }: RawConfig): number {
  return edges === 'auto' ? Math.min(MOST_EDGES, Math.max(1, availableParallelism() - 1)) : edges;
}

/** `npm start` gives its processes the metrics ports N to N+2, and further edges N+3 and up. */
const METRICS_PORTS = 3;

/** Listeners of one installation whose ports must differ. */
function portFaults(raw: RawConfig): string[] {
  const faults: string[] = [];
  const first = raw.METRICS_PORT || undefined;
  const next = METRICS_PORTS + edgeProcesses(raw) - 2;
  const last = first && first + next;
  if (last && last > 65_535) {
    faults.push(
      `METRICS_PORT: ${first} is too high: npm start uses it and the next ${next === 2 ? 'two' : next}; the maximum is ${65_535 - next}`,
    );
  }
  const seen = new Map<number, string>();
  for (const name of ['PORT', 'PLATFORM_PORT'] as const) {
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

/** Edges share their limits over Redis only. */
function edgeFaults(raw: RawConfig): string[] {
  const edges = edgeProcesses(raw);
  if (edges === 1 || raw.REDIS_URL !== undefined) return [];
  const set = raw.EDGE_PROCESSES === 'auto' ? `auto means ${edges} edges here, which` : `${edges} edges`;
  return [`EDGE_PROCESSES: ${set} share their limits over Redis: set REDIS_URL, or EDGE_PROCESSES to 1`];
}

/** Every fault of an environment for one process. */
export const faultsOf = (raw: RawConfig, role: ProcessRole): string[] => [
  ...(raw.NODE_ENV === 'production' ? productionFaults(raw) : []),
  ...roleFaults(raw, role),
  ...rotationFaults(raw),
  ...databaseFaults(raw),
  ...tlsFaults(raw),
  ...retentionFaults(raw),
  ...(role === 'launcher' ? [...edgeFaults(raw), ...portFaults(raw)] : []),
];

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from './free-ports.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ADMIN = { email: 'admin@example.com', password: 'an admin of the suites' };
const USER = { email: 'ada@example.com', password: 'a customer of the suites', name: 'Ada' };
const START_MS = 120_000;

/** `npm start` with an embedded database in a scratch folder, and one customer with a key and credit. */
export async function startProduct({ smtp }) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-conformance-'));
  // The database runs as another user when we are root.
  chmodSync(folder, 0o755);
  const { port, metrics } = await freePorts();
  const url = `http://127.0.0.1:${port}`;
  const launcher = spawn(process.execPath, [join(root, 'dist/bundle/start.js')], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      METRICS_PORT: String(metrics),
      PUBLIC_BASE_URL: url,
      PROXY_CONFIG: patientRouting(folder),
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
      RESPONSES_API: '1',
      SMTP_URL: smtp,
      WEBHOOK_ALLOW_PRIVATE: '1',
    },
  });
  const stop = async () => {
    const gone =
      launcher.exitCode === null && launcher.signalCode === null ? once(launcher, 'exit') : undefined;
    launcher.kill('SIGTERM');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await ready(launcher);
    return { url, ...(await customer(url)), metrics: metricsOf(metrics), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Suites make calls fail on purpose. That must not park the deployment that the next call needs. */
function patientRouting(folder) {
  const text = readFileSync(join(root, 'proxy.config.yaml'), 'utf8')
    .replace(/retry_after: .*/, 'retry_after: 0.02')
    .replace(/allowed_fails: .*/, 'allowed_fails: 1000');
  const path = join(folder, 'proxy.config.yaml');
  writeFileSync(path, text);
  return path;
}

const metricsOf = (first) =>
  ['edge', 'platform', 'jobs', 'model proxy'].map((name, index) => ({
    name,
    url: `http://127.0.0.1:${first + index}/metrics`,
  }));

async function ready(launcher) {
  let output = '';
  const late = AbortSignal.timeout(START_MS);
  await new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`the product ${why}:\n${output}`));
    const hear = (chunk) => {
      output += chunk;
      if (output.includes('Ready at')) resolve();
    };
    launcher.stdout.on('data', hear);
    launcher.stderr.on('data', hear);
    launcher.once('exit', () => fail('ended'));
    late.addEventListener('abort', () => fail('did not start'));
  });
}

async function customer(url) {
  const api = async (token, method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  };
  const { access_token: token, user } = await api('', 'POST', '/api/auth/signup', USER);
  const admin = await api('', 'POST', '/api/auth/login', ADMIN);
  await api(admin.access_token, 'PATCH', `/api/admin/users/${user.id}`, { plan: 'team' });
  await api(token, 'POST', '/api/billing/topup', { amount_usd: 100 });
  const { key, api_key } = await api(token, 'POST', '/api/keys', { name: 'suites' });
  const keyId = api_key.id;
  await api(token, 'PATCH', `/api/keys/${keyId}`, { monthly_limit_usd: '50' });
  return { user: USER, token, key, keyId, api: (...words) => api(token, ...words) };
}

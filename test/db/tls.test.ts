import { execFile } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openOrm } from '../../src/db/orm.js';
import { serverIdentity } from '../../src/db/reachable.js';
import { selfSigned } from '../support/certificate.js';
import { inDist } from '../support/dist.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { type OwnServer, startOwnServer } from '../support/own-server.js';
import { freePorts } from '../support/product-edges.js';
import { type ProductProcess, productProcess } from '../support/product-process.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';

const NAMES = [
  'gateway-edge',
  'gateway-edge-lock',
  'gateway-jobs',
  'gateway-jobs-schedule',
  'gateway-listen',
  'gateway-platform',
  'gateway-proxy',
];

/** A server that refuses connections without TLS, or without a certificate of the client. */
describe('TLS to the database', () => {
  let own: OwnServer;
  let watcher: pg.Client;
  let processes: ProductProcess[] = [];
  let env: NodeJS.ProcessEnv;

  const put = (name: string, content: string): string => {
    const path = join(own.folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    const { uid, gid } = serverIdentity();
    if (uid !== undefined) chownSync(path, uid, gid!);
    return path;
  };
  const addressWith = (parameters: Record<string, string>, host = 'localhost'): string => {
    const url = new URL(own.url);
    url.hostname = host;
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  };

  let tls: Record<string, string>;
  beforeAll(async () => {
    own = await startOwnServer();
    const [server, client] = [selfSigned('localhost'), selfSigned('gateway')];
    tls = {
      sslmode: 'verify-full',
      sslrootcert: put('server.crt', server.cert),
      sslcert: put('client.crt', client.cert),
      sslkey: put('client.key', client.key),
    };
    watcher = new pg.Client({ connectionString: addressWith(tls), application_name: 'watcher' });
    const [{ hba_file: hba } = {}] = await own.tell(
      `alter system set ssl_cert_file = '${tls.sslrootcert}'`,
      `alter system set ssl_key_file = '${put('server.key', server.key)}'`,
      `alter system set ssl_ca_file = '${tls.sslcert}'`,
      'alter system set ssl = on',
      'show hba_file',
    );
    writeFileSync(hba!, 'hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n');
    await own.tell('select pg_reload_conf()');
    await until(
      () =>
        own.tell('select 1').then(
          () => false,
          () => true,
        ),
      { what: 'plain text to be refused' },
    );
    await watcher.connect();

    const [port, platformPort, proxyPort] = await freePorts(3);
    env = {
      ...INHERITED_ENV,
      NODE_ENV: 'development',
      LOG_LEVEL: 'warn',
      DATABASE_URL: addressWith(tls),
      DATA_DIR: join(own.folder, 'data'),
      PORT: String(port),
      PLATFORM_PORT: String(platformPort),
      PLATFORM_URL: `http://127.0.0.1:${platformPort}`,
      PROXY_PORT: String(proxyPort),
      ...TEST_SECRETS,
    };
    processes = (['platform', 'jobs', 'gateway', 'proxy'] as const).map((name) => productProcess(name, env));
    await Promise.all(processes.map((one) => one.start()));
  }, 60_000);
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.running() && one.end('SIGKILL')));
    await watcher?.end();
    await own?.close();
  });

  test('every connection of every process is encrypted', async () => {
    const seen = new Set<string>();
    const look = async (): Promise<boolean> => {
      const { rows } = await watcher.query<{ name: string; ssl: boolean; subject: string }>(
        `select application_name as name, ssl, client_dn as subject
         from pg_stat_activity join pg_stat_ssl using (pid) where application_name like 'gateway-%'`,
      );
      for (const { name, ssl, subject } of rows) {
        expect([name, ssl, subject]).toEqual([name, true, '/CN=gateway']);
        seen.add(name);
      }
      return NAMES.every((name) => seen.has(name));
    };
    await until(look, { what: `connections of ${NAMES.join(', ')}` });
  });

  const connects = async (url: string): Promise<unknown> => {
    const orm = openOrm({ databaseUrl: url, processName: 'test' });
    try {
      return await orm.em.getConnection().execute('select 1 as one');
    } finally {
      await orm.close(true);
    }
  };

  test('verify-full refuses the certificate of another CA, and one for another host', async () => {
    expect(await connects(addressWith(tls))).toEqual([{ one: 1 }]);
    const other = put('other.crt', selfSigned('localhost').cert);
    await expect(connects(addressWith({ ...tls, sslrootcert: other }))).rejects.toThrow(
      /self.signed certificate/,
    );
    await expect(connects(addressWith(tls, '127.0.0.1'))).rejects.toThrow(/does not match certificate/);
    await expect(connects(own.url)).rejects.toThrow(/no encryption/);
  });

  test('a command connects too, and trusts a CA in NODE_EXTRA_CA_CERTS', async () => {
    const { sslrootcert: ca, ...rest } = tls;
    const trusting = { ...env, DATABASE_URL: addressWith(rest), NODE_EXTRA_CA_CERTS: ca! };
    const users = promisify(execFile)(process.execPath, [inDist('cli/admin.js'), 'users'], {
      env: trusting,
    });
    expect((await users).stdout).toBe('[]\n');
  });

  test('a file that is missing stops the start with one line', async () => {
    const lost = { ...env, DATABASE_URL: addressWith({ ...tls, sslkey: '/nowhere.key' }) };
    const failed = promisify(execFile)(process.execPath, [inDist('cli/admin.js'), 'users'], { env: lost });
    await expect(failed).rejects.toMatchObject({
      code: 78,
      stderr: "configuration: DATABASE_URL: sslkey: this process can't read the file /nowhere.key\n",
    });
    expect(readFileSync(tls.sslkey!, 'utf8')).toContain('PRIVATE KEY');
  });
});

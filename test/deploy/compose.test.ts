import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { compose, composeText, ours, variablesIn } from './compose.js';
import { all, argsOf, parseNginx } from './nginx.js';

const read = (path: string): string => readFileSync(path, 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const schema =
  /const schema = z\.object\(\{\n([\s\S]*?)\n\}\);/.exec(read('src/config-schema.ts'))?.[1] ?? '';
const known = [...schema.matchAll(/^ {2}([A-Z][A-Z0-9_]*):/gm)].map(([, name]) => name!);
const settings = read('docs/operations.md')
  .split(/^## /m)
  .find((part) => part.startsWith('Settings'))!;
const starred = [...settings.matchAll(/^\| `(\w+)` \* \|/gm)].map(([, name]) => name!);
const dockerfile = read('Dockerfile');

/** Every image that is pulled. */
const images = [
  ...Object.values(compose.services)
    .filter(({ build }) => build === undefined)
    .map(({ image }) => image),
  ...[...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!),
];

describe('docker-compose.yml', () => {
  test('has a front door, two edges, platform, jobs and what they need', () => {
    expect(Object.keys(compose.services).toSorted()).toEqual(
      [
        'front',
        'edge-1',
        'edge-2',
        'platform',
        'jobs',
        'postgres',
        'valkey',
        'mailpit',
        'prometheus',
        'grafana',
      ].toSorted(),
    );
    expect(ours.map(([name]) => name)).toEqual(['edge-1', 'edge-2', 'platform', 'jobs']);
  });

  test.each(ours)('%s knows every variable that it gets, and gets all that it requires', (_name, service) => {
    const names = Object.keys(service.environment ?? {});
    expect(known.length).toBeGreaterThan(30);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(starred).toHaveLength(5);
    expect(starred.filter((name) => !names.includes(name))).toEqual([]);
    expect(service.environment!.NODE_ENV).toBe('production');
  });

  test('passes every setting on, except those with fixed values', () => {
    const decided = {
      DATA_DIR: 'the image’s',
      EDGE_PROCESSES: 'a container is one edge',
      HUNG_AFTER_SECONDS: 'of npm start',
      PASSWORD_HASH_PROFILE: 'a weaker one is for tests',
      PROXY_PORT: 'of a model proxy of its own',
    };
    const passed = new Set(ours.flatMap(([, { environment = {} }]) => Object.keys(environment)));
    expect(known.filter((name) => !passed.has(name)).toSorted()).toEqual(Object.keys(decided).toSorted());
  });

  test.each(ours)(
    '%s runs a script of package.json as an unprivileged user, and has a readiness check',
    (_name, service) => {
      const [, script] = /^npm run ([\w:]+)$/.exec(String(service.command)) ?? [];
      expect(scripts).toHaveProperty([script!]);
      expect(service).toMatchObject({ init: true, read_only: true, cap_drop: ['ALL'] });
      expect(service.healthcheck!.test.join(' ')).toContain(
        `http://127.0.0.1:${service.environment!.METRICS_PORT}/health/ready`,
      );
      expect(service.stop_grace_period).toMatch(/^1m\$\{DRAIN_SECONDS:-35\}s$/);
    },
  );

  test.each(Object.entries(compose.services))(
    '%s has a health check and is in the one network',
    (_name, service) => {
      expect(service.healthcheck?.test[0]).toBe('CMD');
      expect(Array.isArray(service.networks) ? service.networks : Object.keys(service.networks)).toEqual([
        'inside',
      ]);
      for (const dependency of Object.keys(service.depends_on ?? {})) {
        expect(compose.services).toHaveProperty([dependency]);
        expect(service.depends_on![dependency]!.condition).toBe('service_healthy');
      }
    },
  );

  test.each(images)('%s is pinned to one version', (image) => {
    // A major or minor version alone would move; a digest, if given, is complete.
    expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+(?:\.\d+)?[\w.-]*(?:@sha256:[0-9a-f]{64})?$/);
    expect(image).not.toMatch(/:(?:latest|stable|lts)/);
  });

  test('publishes the front door to the world, and all other ports to this machine only', () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${port}`),
    );
    expect(published.filter((port) => !port.includes(' 127.0.0.1:'))).toEqual([
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Compose's
      'front ${PUBLIC_PORT:-8080}:8080',
    ]);
  });

  test('mounts existing files and declared volumes', () => {
    for (const { volumes = [] } of Object.values(compose.services)) {
      for (const volume of volumes) {
        const [source] = volume.split(':');
        if (source!.startsWith('./')) expect([source, existsSync(source!)]).toEqual([source, true]);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
    }
  });

  test('keeps the spools of the edges apart, and on volumes', () => {
    const spools = ours.filter(([name]) => name.startsWith('edge')).map(([, { volumes }]) => volumes![0]!);
    expect(new Set(spools).size).toBe(2);
    const directory = /DATA_DIR=(\S+)/.exec(dockerfile)![1];
    for (const spool of spools) expect(spool.split(':')[1]).toBe(directory);
  });

  test('contains no secret, and deploy/env.example lists exactly the required ones', () => {
    const variables = variablesIn(composeText);
    const required = new Set(variables.filter((one) => one.required).map(({ name }) => name));
    const example = read('deploy/env.example');
    const asked = [...example.matchAll(/^([A-Z_]+)=$/gm)].map(([, name]) => name!);
    expect(asked.toSorted()).toEqual([...required].toSorted());
    const optional = [...example.matchAll(/^# ([A-Z_]+)=/gm)].map(([, name]) => name!);
    const rest = new Set(variables.map(({ name }) => name).filter((name) => !required.has(name)));
    expect(optional.toSorted()).toEqual([...rest].toSorted());
    for (const [, { environment = {} }] of ours) {
      for (const name of ['JWT_SECRET', 'ENCRYPTION_KEY', 'WEBHOOK_SECRET', 'UPSTREAM_MASTER_KEY']) {
        expect(environment[name]).toMatch(new RegExp(`^\\$\\{${name}:\\?`));
      }
    }
  });

  test('keeps files with secrets out of the repository and of the image', () => {
    const files = Object.values(compose.services).flatMap(({ env_file: files = [] }) =>
      files.map(({ path }) => path.replace('./', '')),
    );
    expect(files).toContain('nodes.env');
    for (const list of ['.gitignore', '.dockerignore']) {
      const ignored = read(list).split('\n');
      expect([list, ['.env', ...files].filter((file) => !ignored.includes(file))]).toEqual([list, []]);
    }
  });

  test('is documented without `restart`, which would keep the old environment', () => {
    const commands = [...readdirSync('docs'), '../README.md', '../CONTRIBUTING.md']
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) => read(join('docs', name)).match(/docker compose [a-z]+/g) ?? []);
    expect(commands).toContain('docker compose up');
    expect(commands).not.toContain('docker compose restart');
  });

  test('shares the addresses of the edges with nobody else', () => {
    const { subnet, ip_range: range } = compose.networks.inside.ipam.config[0]!;
    const given = new BlockList();
    const [from, bits] = range.split('/');
    given.addSubnet(from!, Number(bits));
    const [start] = subnet.split('/');
    const fixed = Object.values(compose.services).flatMap(({ networks }) =>
      Array.isArray(networks) ? [] : Object.values(networks).map(({ ipv4_address: address }) => address),
    );
    expect(fixed).toHaveLength(2);
    expect(fixed.filter((address) => given.check(address))).toEqual([]);
    expect(given.check(start!)).toBe(false);
  });

  test('trusts proxies of its own network only', () => {
    const { subnet } = compose.networks.inside.ipam.config[0]!;
    for (const [, { environment }] of ours) expect(environment!.TRUST_PROXY).toBe(subnet);
  });
});

describe('the front door', () => {
  const http = all(parseNginx(read('deploy/nginx.conf')), 'http')[0]!.inner;
  const server = all(http, 'server')[0]!.inner;
  const locations = new Map(all(server, 'location').map(({ args, inner }) => [args.join(' '), inner]));

  test('forwards to both edges, at their fixed addresses', () => {
    const [upstream] = all(http, 'upstream');
    const addresses = all(upstream!.inner, 'server').map(({ args }) => args[0]);
    const edges = ours.filter(([name]) => name.startsWith('edge'));
    expect(addresses).toEqual(
      edges.map(([, { networks, environment }]) => {
        const { ipv4_address: address } = (networks as Record<string, { ipv4_address: string }>).inside!;
        return `${address}:${environment!.PORT}`;
      }),
    );
    for (const inner of locations.values()) {
      if (all(inner, 'internal').length > 0) continue;
      expect(argsOf(inner, 'proxy_pass')).toBe(`http://${upstream!.args[0]}`);
    }
  });

  test.each(['/v1', '/graphql', '/api/widget/chat'])('buffers nothing of %s in either direction', (path) => {
    const inner = locations.get(path)!;
    expect(argsOf(inner, 'proxy_buffering')).toBe('off');
    expect(argsOf(inner, 'proxy_request_buffering')).toBe('off');
  });

  test("passes WebSocket everywhere: no location sets headers, which would drop the server's", () => {
    const headers = new Map(all(server, 'proxy_set_header').map(({ args }) => [args[0], args[1]]));
    expect(headers.get('Upgrade')).toBe('$http_upgrade');
    const map = all(http, 'map')[0]!;
    expect(map.args).toEqual(['$http_upgrade', headers.get('Connection')]);
    expect(map.inner.map(({ name, args }) => [name, ...args])).toEqual([
      ['default', 'upgrade'],
      ['', ''],
    ]);
    expect(argsOf(server, 'proxy_http_version')).toBe('1.1');
    expect(headers.get('X-Forwarded-For')).toBe('$remote_addr');
    for (const inner of locations.values()) expect(all(inner, 'proxy_set_header')).toEqual([]);
  });

  test('waits longer than the edge and accepts slightly larger bodies', () => {
    expect(Number.parseInt(argsOf(server, 'proxy_read_timeout')!, 10)).toBeGreaterThan(600);
    expect(argsOf(server, 'client_max_body_size')).toBe('12m');
  });
});

describe('monitoring', () => {
  test('Prometheus scrapes all of our processes', () => {
    const { scrape_configs: jobs } = parse(read('deploy/prometheus.yml')) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const targets = jobs.flatMap((job) => job.static_configs.flatMap((one) => one.targets));
    expect(targets).toEqual(ours.map(([name, { environment }]) => `${name}:${environment!.METRICS_PORT}`));
  });

  const folder = 'deploy/grafana';
  const dashboards = readdirSync(join(folder, 'dashboards')).map(
    (file) =>
      JSON.parse(read(join(folder, 'dashboards', file))) as {
        uid: string;
        panels: { id: number; title: string; datasource: { uid: string }; targets: { expr: string }[] }[];
      },
  );
  const panels = dashboards.flatMap((dashboard) => dashboard.panels);

  test('Grafana finds its data source and dashboard where they are mounted', () => {
    const sources = parse(read(join(folder, 'provisioning/datasources/prometheus.yml'))) as {
      datasources: { uid: string; url: string }[];
    };
    expect(sources.datasources[0]!.url).toBe('http://prometheus:9090');
    for (const panel of panels) expect(panel.datasource.uid).toBe(sources.datasources[0]!.uid);
    const { providers } = parse(read(join(folder, 'provisioning/dashboards/gateway.yml'))) as {
      providers: { options: { path: string } }[];
    };
    const { path } = providers[0]!.options;
    const { volumes, environment } = compose.services.grafana!;
    expect(volumes).toContain(`./${folder}/dashboards:${path}:ro`);
    expect(volumes).toContain(`./${folder}/provisioning:/etc/grafana/provisioning:ro`);
    expect(environment!.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(`${path}/gateway.json`);
    expect(dashboards.map(({ uid }) => uid).toSorted()).toEqual(['gateway', 'gateway-nodes']);
    for (const dashboard of dashboards)
      expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  /** Labels of each metric, from docs/operations.md. */
  const documented = new Map(
    [...read('docs/operations.md').matchAll(/^\| `([a-z][a-z0-9_]*)` \| [\w, ]+ \|([^|]*)\|/gm)].map(
      ([, name, labels]) => [name!, labels!.match(/\w+/g) ?? []] as const,
    ),
  );
  // prom-client's own.
  documented.set('nodejs_eventloop_lag_p99_seconds', []);
  documented.set('process_resident_memory_bytes', []);
  const METRIC = /\b(?:gateway|metering|proxy|platform|nodejs|process)_[a-z0-9_]+/g;

  test.each(panels.map((panel) => [panel.title, panel] as const))(
    'the panel %s uses documented metrics and labels',
    (_title, panel) => {
      for (const { expr } of panel.targets) {
        const asked = (expr.match(METRIC) ?? []).map((name) => name.replace(/_bucket$/, ''));
        expect(asked.length).toBeGreaterThan(0);
        expect(asked.filter((name) => !documented.has(name))).toEqual([]);
        // Prometheus adds the first, histograms have the second.
        const known = new Set(['instance', 'le', ...asked.flatMap((name) => documented.get(name)!)]);
        const labels = [
          ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/)),
          ...[...expr.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
        ];
        expect(labels.filter((label) => !known.has(label))).toEqual([]);
        expect([expr, parenthesesMatch(expr)]).toEqual([expr, true]);
      }
    },
  );
});

/** Whether every bracket of an expression is closed, and in order. */
function parenthesesMatch(expr: string): boolean {
  const open: string[] = [];
  for (const sign of expr.replace(/"[^"]*"/g, '').replace(/[^()[\]{}]/g, '')) {
    if ('([{'.includes(sign)) open.push(sign);
    else if (open.pop() !== { ')': '(', ']': '[', '}': '{' }[sign]) return false;
  }
  return open.length === 0;
}

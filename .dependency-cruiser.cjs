/**
 * The walls of docs/architecture.md. Runs on compiled JavaScript (`npm run boundaries`): with TypeScript 7 the
 * sources would yield no module at all, and every rule would hold. test/boundaries asserts that it sees them.
 */
const folders = (...names) => `^(dist|build/src)/(${names.join('|')})`;
const files = (...patterns) => `^(dist|build/src)/.*(${patterns.join('|')})$`;
/** Used by everybody: names no layer above it. */
const GROUND = ['lib/', 'config\\.js', 'errors\\.js'];
const NODE_OR_PACKAGE = ['node_modules', '^(node:)?[a-z0-9_/]+$'];
const TRANSPORTS = ['rest/', 'graphql/', 'pages/', 'platform/', 'jobs/', 'cli/', 'launcher/'];

module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      severity: 'error',
      comment: 'Two files that need each other are one idea in two places, or want a third.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'gateway-imports',
      severity: 'error',
      comment: 'The edge is lean: rules, stores, inputs, entities and what every process uses.',
      from: { path: folders('gateway/', 'inference/') },
      to: {
        pathNot: [
          folders('gateway/', 'inference/', 'entities/', 'metering/', ...GROUND),
          '^(dist|build/src)/db/(bounded|client|connection|pooled|without-migrations|listen|locks|invalidation|migrate|wait|wait-for-schema)\\.js$',
          files('\\.rules\\.js', '\\.store\\.js', '\\.inputs\\.js'),
          folders('router/', 'proxy/simulator/on-demand\\.js'),
          ...NODE_OR_PACKAGE,
        ],
      },
    },
    {
      name: 'inference-knows-no-server',
      severity: 'error',
      comment: 'A call is made for whoever pays: an HTTP caller, a widget, the playground.',
      from: { path: folders('inference/') },
      to: {
        path: [
          folders('gateway/', 'proxy/', 'router/', ...TRANSPORTS),
          'node_modules/(fastify|@fastify)/',
          '^(node:)?https?$',
        ],
      },
    },
    {
      name: 'gateway-lean',
      severity: 'error',
      comment: 'The edge never loads what only the platform needs, not by any path.',
      from: { path: '^(dist|build/src)/gateway/main\\.js$' },
      to: {
        path: 'node_modules/(graphql|graphql-ws|@apollo|type-graphql|react|react-dom|@mantine|urql|@urql|fastify-type-provider-zod|agenda)/|^(dist|build/src)/db/migrations/',
        reachable: true,
      },
    },
    {
      name: 'worker-lean',
      severity: 'error',
      comment:
        'The worker thread reads JSON: no database, no server, no package but zod and what reads addresses.',
      from: { path: '^(dist|build/src)/worker/main\\.js$' },
      to: {
        path: `node_modules/(?!zod/|ipaddr\\.js/)|${folders('db/', 'entities/', 'services/', 'limits/', ...TRANSPORTS)}`,
        reachable: true,
      },
    },
    {
      name: 'router-imports',
      severity: 'error',
      comment: 'The router is a library: it knows neither who runs it nor how a call came.',
      from: { path: folders('router/') },
      to: {
        pathNot: [folders('router/', 'db/', 'entities/', ...GROUND), ...NODE_OR_PACKAGE],
      },
    },
    {
      name: 'router-knows-no-server',
      severity: 'error',
      comment: 'HTTP in front of it is the business of proxy/.',
      from: { path: folders('router/') },
      to: { path: ['node_modules/(fastify|@fastify)/', '^(node:)?https?$'] },
    },
    {
      name: 'router-doors',
      severity: 'error',
      comment:
        'Whoever runs the router opens it, and reads what it publishes. Its worker job is the rest that others load.',
      from: {
        path: '^(dist|build/src)/',
        pathNot: folders('router/', 'proxy/', 'launcher/', 'cli/', 'worker/'),
      },
      to: {
        path: folders('router/'),
        pathNot: folders('router/(open-router|routing|deployment-reports|virtual-keys)\\.js'),
      },
    },
    {
      name: 'proxy-imports',
      severity: 'error',
      comment: 'The model proxy is HTTP over the router, as LiteLLM would be in its place.',
      from: { path: folders('proxy/') },
      to: { pathNot: [folders('proxy/', 'router/', 'db/', 'entities/', ...GROUND), ...NODE_OR_PACKAGE] },
    },
    {
      name: 'services-know-no-transport',
      severity: 'error',
      comment: 'A use case does not know who asks.',
      from: { path: folders('services/', 'metering/') },
      to: { path: folders('gateway/', 'proxy/', ...TRANSPORTS) },
    },
    {
      name: 'transports-go-through-services',
      severity: 'error',
      comment: 'Only services touch entities and tables. Each main.js composes: it opens the database.',
      from: {
        path: folders('rest/', 'graphql/', 'pages/', 'platform/', 'jobs/'),
        pathNot: ['/main\\.js$', '/jobs/(kit|app)\\.js$'],
      },
      to: { path: folders('entities/', 'db/') },
    },
    {
      name: 'entities-describe-tables',
      severity: 'error',
      comment: 'No logic, no transport: MikroORM and ids.',
      from: { path: folders('entities/') },
      to: { pathNot: [folders('entities/', 'lib/'), 'node_modules/@mikro-orm/', 'node_modules/kysely/'] },
    },
    {
      name: 'lib-is-ground',
      severity: 'error',
      comment: 'What everybody uses knows nobody.',
      from: { path: folders('lib/') },
      to: { pathNot: [folders(...GROUND), ...NODE_OR_PACKAGE] },
    },
    {
      name: 'launcher-is-not-imported',
      severity: 'error',
      comment: 'A process runs as well without the launcher.',
      from: { pathNot: folders('launcher/', 'start\\.js') },
      to: { path: folders('launcher/') },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Bundles for browsers: web/ has walls of its own (biome.json).
    exclude: { path: '^dist/(bundle|web)/' },
    tsPreCompilationDeps: false,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};

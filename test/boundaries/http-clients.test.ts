import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledSources } from './bundled.js';
import { compiled, compiledFiles, loadedBy, ownImports } from './loaded-modules.js';

/** Packages that make HTTP requests by a client of their own. */
const PACKAGES = /^(?:undici|axios|got|ky|node-fetch|needle|superagent|request|phin|follow-redirects)$/;

/** Where packages lie, one inside another included: two versions of one are two clients. */
const foldersOf = (paths: readonly string[]): string[] => {
  const folders = paths.flatMap(
    (path) => /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  return [...new Set(folders)].sort();
};

const nameOf = (folder: string): string => folder.replace(/.*node_modules\//, '');

/** Clients among the packages of files. */
const clientPackages = (paths: readonly string[]): string[] =>
  foldersOf(paths).filter((folder) => PACKAGES.test(nameOf(folder)));

/** Node's own modules with a client in them. */
const NODES_OWN = /(?:require\(|from |import )["'](?:node:)?(?:https?|http2)["']/;
/** What of them one of our files imports by name; by any other import it could ask. */
const NAMED = /^import \{([^}]*)\} from ["'](?:node:)?(?:https?|http2)["']/gm;

const textOf = (url: string): string =>
  readFileSync(fileURLToPath(url), 'utf8').replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '');
const filesOf = (urls: readonly string[]): string[] => urls.filter((url) => url.startsWith('file:'));
const isOurs = (url: string): boolean => !url.includes('/node_modules/');
const usesNodes = (url: string): boolean => NODES_OWN.test(textOf(url));

async function loadedBehind(program: string): Promise<string[]> {
  const files = compiledFiles(join(compiled, program));
  const main = files.find((file) => basename(file) === 'main.js')!;
  // main.js itself would start to listen: what it imports is loaded instead.
  const loaded = await loadedBy([...files.filter((file) => file !== main), ...ownImports(main)]);
  return filesOf(loaded);
}

describe('HTTP clients of the edge', () => {
  let loaded: string[];
  beforeAll(async () => {
    loaded = await loadedBehind('gateway');
  });

  test('are one undici', () => {
    expect(clientPackages(loaded)).toEqual(['node_modules/undici']);
  });

  test('are none of Node’s', () => {
    const own = loaded.filter(isOurs).map(textOf);
    const named = own.flatMap((text) => [...text.matchAll(NAMED)].flatMap(([, names]) => names!.split(',')));
    // For serving, and the names of methods.
    expect([...new Set(named.map((name) => name.trim()))].sort()).toEqual([
      'METHODS',
      'ServerResponse',
      'createServer',
    ]);
    expect(own.filter((text) => NODES_OWN.test(text.replace(NAMED, '')))).toEqual([]);
    expect(own.filter((text) => /(?<![.\w#])fetch\(|\bPushgateway\b/.test(text))).toEqual([]);
    const packages = foldersOf(loaded.filter((url) => !isOurs(url) && usesNodes(url)));
    // Fastify serves; prom-client would push metrics, for whom asks it to.
    expect(packages).toEqual(['node_modules/fastify', 'node_modules/prom-client', 'node_modules/undici']);
  });

  test('are bundled once', () => {
    expect(clientPackages(bundledSources('gateway/main.js'))).toEqual(['node_modules/undici']);
  });

  test('serve the model proxy too', async () => {
    const proxy = await loadedBehind('proxy');
    expect(clientPackages(proxy)).toEqual(['node_modules/undici']);
    expect(proxy.filter(isOurs).filter((url) => /(?<![.\w#])fetch\(/.test(textOf(url)))).toEqual([]);
    expect(clientPackages(bundledSources('proxy/main.js'))).toEqual(['node_modules/undici']);
  });

  test('would be caught: the instruments see the clients of other processes, and a second version', async () => {
    // nodemailer fetches attachments by Node's own.
    const mailing = filesOf(await loadedBy([join(compiled, 'services/alerts/mail-sender.js')]));
    expect(foldersOf(mailing.filter(usesNodes))).toContain('node_modules/nodemailer');
    const two = ['/a/node_modules/x/node_modules/undici/index.js', '/a/node_modules/undici/index.js'];
    expect(clientPackages(two)).toHaveLength(2);
  });
});

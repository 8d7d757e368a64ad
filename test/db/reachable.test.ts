import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  closedFolder,
  isRoot,
  linkCluster,
  reachableBinaries,
  reachableCluster,
} from '../../src/db/reachable.js';
import { temporaryFolder } from '../launcher/support.js';

/** A checkout in a folder that only its owner may enter, such as root's home. Only matters for root. */
describe('what the database’s unprivileged user can’t reach', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
    mkdirSync(join(folder.path, 'home/native/bin'), { recursive: true });
    mkdirSync(join(folder.path, 'home/native/lib'));
    writeFileSync(join(folder.path, 'home/native/bin/postgres'), 'binary', { mode: 0o755 });
    writeFileSync(join(folder.path, 'home/native/lib/libx.so.1'), 'library');
    symlinkSync(join(folder.path, 'home/native/lib/libx.so.1'), join(folder.path, 'home/native/lib/libx.so'));
    chmodSync(join(folder.path, 'home'), 0o700);
  });
  afterEach(() => folder.remove());

  const at = (path: string) => join(folder.path, path);

  test('binaries are copied once to a reachable folder, with the targets of their links', () => {
    const place = reachableBinaries(at('home/native'), '18.4.0', at('system'));
    if (!isRoot()) {
      expect(place).toBe(at('home/native'));
      return;
    }
    expect(place).toBe(at('system/binaries/18.4.0'));
    expect(closedFolder(join(place, 'bin/postgres'))).toBeUndefined();
    expect(statSync(join(place, 'bin/postgres')).mode & 0o111).toBe(0o111);
    expect(lstatSync(join(place, 'lib/libx.so')).isSymbolicLink()).toBe(false);
    expect(readFileSync(join(place, 'lib/libx.so'), 'utf8')).toBe('library');
    writeFileSync(join(place, 'marker'), '');
    expect(reachableBinaries(at('home/native'), '18.4.0', at('system'))).toBe(place);
    expect(existsSync(join(place, 'marker'))).toBe(true);
  });

  test('each cluster gets its own system folder, the same at every start', () => {
    const [one, two] = [at('home/a/.data/postgres'), at('home/b/.data/postgres')];
    const places = [one, two, one].map((path) => reachableCluster(path, at('system')));
    if (!isRoot()) {
      expect(places).toEqual([one, two, one]);
      return;
    }
    expect(places[0]).toBe(places[2]);
    expect(places[0]).not.toBe(places[1]);
    expect(closedFolder(places[0]!)).toBeUndefined();
  });

  describe('once the cluster is in a system folder', () => {
    const cluster = (path: string): string => reachableCluster(path, at('system'));
    const put = (path: string): void => {
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'PG_VERSION'), '18');
    };

    test('DATA_DIR links to it, and neither a copy of DATA_DIR nor a missing cluster starts an empty database', () => {
      const [one, copy] = [at('home/a/postgres'), at('home/b/postgres')];
      for (const path of [one, copy]) mkdirSync(dirname(path), { recursive: true });
      const place = cluster(one);
      put(place);
      linkCluster(one, place);
      linkCluster(one, place);
      if (!isRoot()) {
        expect([place, lstatSync(one).isSymbolicLink()]).toEqual([one, false]);
        return;
      }
      expect(readlinkSync(one)).toBe(place);
      symlinkSync(place, copy);
      for (const mode of [0o700, 0o711]) {
        chmodSync(at('home'), mode);
        expect(cluster(one)).toBe(place);
        expect(() => cluster(copy)).toThrow('the database of another DATA_DIR');
      }
      rmSync(place, { recursive: true });
      expect(() => cluster(one)).toThrow(`is missing: restore ${place}`);
      rmSync(one);
      expect(cluster(one)).toBe(one);
    });

    test('a cluster in the closed folder itself is reported, not ignored', () => {
      const one = at('home/a/postgres');
      put(one);
      if (isRoot()) expect(() => cluster(one)).toThrow(`chmod o+x ${at('home')}`);
      chmodSync(at('home'), 0o711);
      expect(cluster(one)).toBe(one);
    });

    test('two clusters are reported, and neither is chosen', () => {
      if (!isRoot()) return;
      const one = at('home/a/postgres');
      const place = cluster(one);
      for (const path of [one, place]) put(path);
      expect(() => cluster(one)).toThrow(`two databases, in ${one} and in ${place}`);
      rmSync(one, { recursive: true });
      expect(cluster(one)).toBe(place);
    });
  });

  describe("with a link of the operator's own", () => {
    const one = () => at('open/data/postgres');
    const elsewhere = () => at('disk/pg');
    const cluster = (): string => reachableCluster(one(), at('system'));
    beforeEach(() => {
      mkdirSync(dirname(one()), { recursive: true });
      mkdirSync(elsewhere(), { recursive: true });
      writeFileSync(join(elsewhere(), 'PG_VERSION'), '18');
    });

    test.each(['../../disk/pg', '/disk/pg'])('the database is used at its target (%s)', (target) => {
      symlinkSync(target.startsWith('/') ? at(target) : target, one());
      expect(cluster()).toBe(one());
      expect(existsSync(at('system'))).toBe(false);
      rmSync(elsewhere(), { recursive: true });
      expect(cluster).toThrow(`is missing: restore ${elsewhere()}`);
    });

    test('a link through a closed folder is reported', () => {
      symlinkSync(elsewhere(), one());
      for (const path of ['disk', 'open']) {
        chmodSync(at(path), 0o700);
        if (isRoot()) expect(cluster).toThrow(`chmod o+x ${at(path)}`);
        else expect(cluster()).toBe(one());
        chmodSync(at(path), 0o755);
      }
    });

    test("a target that can't be read does not count as missing", () => {
      symlinkSync(one(), one());
      expect(cluster).toThrow(`can't read the database in ${one()} (ELOOP)`);
      rmSync(one());
      symlinkSync(elsewhere(), one());
      chmodSync(elsewhere(), 0);
      if (!isRoot()) expect(cluster).toThrow(`can't read the database in ${elsewhere()} (EACCES)`);
      chmodSync(elsewhere(), 0o755);
      expect(cluster()).toBe(one());
    });
  });

  test('a reachable cluster stays where it is', () => {
    chmodSync(at('home'), 0o711);
    expect(reachableBinaries(at('home/native'), '18.4.0', at('system'))).toBe(at('home/native'));
    expect(reachableCluster(at('home/.data/postgres'), at('system'))).toBe(at('home/.data/postgres'));
    expect(existsSync(at('system'))).toBe(false);
  });
});

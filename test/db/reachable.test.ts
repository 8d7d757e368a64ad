import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { closedFolder, isRoot, reachableBinaries, reachableCluster } from '../../src/db/reachable.js';
import { temporaryFolder } from '../launcher/support.js';

/** A checkout in a folder that only its owner may enter, such as root's home. Only root has to care. */
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

  test('is copied to where it can, binaries with what their links mean, once', () => {
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

  test('lies elsewhere: each cluster has a folder of its own there, the same at every start', () => {
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

  test('is left where it is when it can be reached', () => {
    chmodSync(at('home'), 0o711);
    expect(reachableBinaries(at('home/native'), '18.4.0', at('system'))).toBe(at('home/native'));
    expect(reachableCluster(at('home/.data/postgres'), at('system'))).toBe(at('home/.data/postgres'));
    expect(existsSync(at('system'))).toBe(false);
  });
});

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../src/lib/logger.js';
import { createRoutingSource, followFile } from '../../src/router/routing-source.js';
import { until } from '../support/until.js';

const fileWith = (...ids: string[]): string =>
  `model_list:\n${ids
    .map(
      (id) => `  - model_name: gateway/fast
    litellm_params: { model: openai/m, api_base: "http://10.0.0.5:8000/v1", input_cost_per_token: 0.0000001, output_cost_per_token: 0.0000003 }
    model_info: { id: ${id} }`,
    )
    .join('\n')}\n`;

describe('a followed routing file', () => {
  let folder: string;
  let path: string;
  const stops: (() => void)[] = [];
  const faults: object[] = [];
  const log = {
    info: () => undefined,
    error: (fields: object) => void faults.push(fields),
  } as never as Logger;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-routing-'));
    path = join(folder, 'routing.yaml');
    writeFileSync(path, fileWith('one'));
  });
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
    faults.length = 0;
    rmSync(folder, { recursive: true, force: true });
  });

  /** Reads the file as at a start, runs `before`, then follows the file. Returns the ids of each later reading. */
  async function follow(before: () => void = () => undefined): Promise<string[][]> {
    const config = {
      ...{ proxyConfigPath: path, environment: {}, production: true },
      ...{ allowSimulator: false, simulatorControls: false, upstreamMasterKey: 'master' },
    };
    const source = createRoutingSource(config, () => Promise.reject(new Error('no simulator')));
    const readings: string[][] = [];
    await source.load();
    before();
    stops.push(
      followFile(source, log, ({ deployments }) => {
        readings.push(deployments.map(({ id }) => id));
      }),
    );
    return readings;
  }
  const replace = (text: string): void => {
    writeFileSync(`${path}.next`, text);
    renameSync(`${path}.next`, path);
  };

  test('is read again when it is written, and when another file is renamed to its path', async () => {
    const readings = await follow();
    writeFileSync(path, fileWith('one', 'two'));
    await until(() => readings.length === 1, { what: 'the written file' });
    replace(fileWith('three'));
    await until(() => readings.length === 2, { what: 'the renamed file' });
    expect(readings).toEqual([['one', 'two'], ['three']]);
  });

  test('is read again if it changed between the start and the following', async () => {
    const readings = await follow(() => replace(fileWith('later')));
    await until(() => readings.length === 1, { what: 'the file that changed' });
    expect(readings).toEqual([['later']]);
  });

  test('changes nothing while it is invalid or missing, and is read once it is valid', async () => {
    const readings = await follow();
    writeFileSync(path, 'model_list: [sk-of-a-node');
    process.emit('SIGHUP');
    await until(() => faults.length === 1, { what: 'the invalid file' });
    rmSync(path);
    process.emit('SIGHUP');
    await until(() => faults.length >= 2, { what: 'the missing file' });
    expect(readings).toEqual([]);
    expect(JSON.stringify(faults)).not.toContain('sk-of-a-node');
    writeFileSync(path, fileWith('back'));
    await until(() => readings.length > 0, { what: 'the valid file' });
    expect(readings[0]).toEqual(['back']);
  });
});

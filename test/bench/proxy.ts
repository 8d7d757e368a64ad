import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/db/embedded.js';
import { freePort } from '../support/free-port.js';
import { createLedger, type Ledger } from './ledger.js';
import { machineLine, takeCores } from './machine.js';
import { Measured, median, quantile, startGenerator } from './measure.js';
import { startOwn } from './processes.js';
import { startProxy } from './targets.js';

/**
 * `node build/test/bench/proxy.js <rounds> <dist> [<dist of another build>]`: CPU microseconds that the bundled model
 * proxy of each build spends on a call and on an event of a stream, alone between the generator and the bench's
 * upstream. The builds take turns in each round.
 */
const WARM_MS = 4_000;
const SATURATE_MS = 2_500;
const STREAMS = 200;
const FIGURES = ['cpuPerRequest', 'cpuPerChunk'] as const;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const [rounds = '10', ...dists] = process.argv.slice(2);
if (dists.length === 0) throw new Error('name the folder of at least one build');

const cores = takeCores();
say(machineLine(cores));
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
chmodSync(folder, 0o755);
const server = await startEmbeddedPostgres({ directory: join(folder, 'postgres') });
const upstreamPort = await freePort();
const upstream = startOwn('upstream', [String(upstreamPort)]);
const generator = startGenerator();
const ledgers: Ledger[] = [];
const targets: Measured[] = [];
try {
  for (const [index, dist] of dists.entries()) {
    const ledger = await createLedger(server, `bench_proxy_${index}`, dist);
    ledgers.push(ledger);
    const proxy = await startProxy({ upstreamPort, cores, folder }, { name: dist, ledger, dist });
    targets.push(new Measured(proxy, generator));
  }
  for (const target of targets) await target.warm(WARM_MS);
  for (let round = 0; round < Number(rounds); round++) {
    for (const target of targets) await target.saturate(SATURATE_MS);
    for (const target of targets) await target.streams(STREAMS);
  }
  for (const figure of FIGURES) {
    for (const { running, figures, sent } of targets) {
      const values = figures.get(figure)!;
      const [low, high] = [0.25, 0.75].map((share) => quantile(values, share).toFixed(1));
      say(
        `${figure.padEnd(13)} median ${median(values).toFixed(1)} µs (${low} to ${high}), ${sent.bad} bad: ${running.name}`,
      );
    }
  }
} finally {
  await generator.stop();
  await Promise.all(targets.map(({ running }) => running.stop()));
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  await upstream.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

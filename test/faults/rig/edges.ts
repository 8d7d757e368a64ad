import { freePort } from '../../../src/lib/free-port.js';
import { type RigProcess, rigProcess } from './processes.js';

/** An edge with its own addresses. */
export interface RigEdge extends RigProcess {
  readonly port: number;
  readonly url: string;
  readonly metricsUrl: string;
  /** Sum of a metric over all labels; with `label`, over those lines that contain it. */
  metric(name: string, label?: string): Promise<number>;
}

/** Prepares so many edges on free ports of loopback. */
export async function rigEdges(
  count: number,
  env: NodeJS.ProcessEnv,
  keptOutputBytes?: number,
): Promise<RigEdge[]> {
  const ports = await freePorts(2 * count);
  return Array.from({ length: count }, (_, i) => rigEdge(ports[i]!, ports[count + i]!, env, keptOutputBytes));
}

function rigEdge(
  port: number,
  metricsPort: number,
  env: NodeJS.ProcessEnv,
  keptOutputBytes?: number,
): RigEdge {
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  const own = { ...env, PORT: String(port), METRICS_PORT: String(metricsPort) };
  return Object.assign(rigProcess('gateway', own, keptOutputBytes), {
    port,
    url: `http://127.0.0.1:${port}`,
    metricsUrl,
    async metric(name: string, label = '') {
      const text = await (await fetch(metricsUrl)).text();
      return text
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => line.includes(label))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
  });
}

/** Each another: two that are asked for one after the other may be the same. */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

import { freePort } from './free-port.js';
import { metricOf } from './metric.js';
import { type ProductProcess, productProcess } from './product-process.js';

/** An edge with its addresses. */
export interface ProductEdge extends ProductProcess {
  readonly port: number;
  readonly url: string;
  readonly metricsUrl: string;
  /** Sum of a metric over all labels; with `label`, over the lines that contain it. */
  metric(name: string, label?: string): Promise<number>;
}

/** Prepares edges on free ports of loopback. */
export async function productEdges(
  count: number,
  env: NodeJS.ProcessEnv,
  keptOutputBytes?: number,
): Promise<ProductEdge[]> {
  const ports = await freePorts(2 * count);
  return Array.from({ length: count }, (_, i) =>
    productEdge(ports[i]!, ports[count + i]!, env, keptOutputBytes),
  );
}

function productEdge(
  port: number,
  metricsPort: number,
  env: NodeJS.ProcessEnv,
  keptOutputBytes?: number,
): ProductEdge {
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  const own = { ...env, PORT: String(port), METRICS_PORT: String(metricsPort) };
  return Object.assign(productProcess('gateway', own, keptOutputBytes), {
    port,
    url: `http://127.0.0.1:${port}`,
    metricsUrl,
    metric: (name: string, label?: string) => metricOf(metricsUrl, name, label),
  });
}

/** Distinct free ports of loopback. */
export const freePorts = (count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, () => freePort()));

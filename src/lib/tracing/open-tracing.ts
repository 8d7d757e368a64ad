import type { Logger } from '../logger.js';
import type { Tracing } from './tracing.js';

export interface TracingConfig {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  ratio: number;
}

/** Opens the tracing of a process. Without a configuration, its code isn't loaded. */
export async function openTracing(
  config: TracingConfig | null,
  role: 'edge' | 'platform' | 'proxy',
  log: Logger,
): Promise<Tracing | undefined> {
  if (!config) return undefined;
  const { createTracing } = await import('./create-tracing.js');
  return createTracing({ ...config, serviceName: `gateway-${role}`, log, isEntry: role === 'edge' });
}

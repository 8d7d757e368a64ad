import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.js';
import { freePort, takeBriefly } from '../lib/free-port.js';
import { edgeMetricsPort, METRICS_OFFSET, type Ports } from './children.js';

const POLL_MS = 100;
/** The listener of a run that was just killed may need a moment to close. */
const PATIENCE_MS = 5_000;
const LOOPBACK = '127.0.0.1';

interface Setting {
  name: 'PORT' | 'PLATFORM_PORT' | 'METRICS_PORT';
  host: string;
  port: number;
}

const settingOf = (config: Config): Record<keyof Ports, Setting> => ({
  edge: { name: 'PORT', host: config.host, port: config.port },
  platform: { name: 'PLATFORM_PORT', host: LOOPBACK, port: config.platformPort },
});

function metricsSettings({ metricsPort, metricsHost: host, ...config }: Config): Setting[] {
  if (!metricsPort) return [];
  const { platform, jobs } = METRICS_OFFSET;
  const ports = [
    ...Array.from({ length: config.edgeProcesses }, (_, nth) => edgeMetricsPort(metricsPort, nth)),
    ...[platform, jobs].map((offset) => metricsPort + offset),
  ];
  return ports.map((port) => ({ name: 'METRICS_PORT', host, port }));
}

/** The configured ports; for the others, ports that are free at the moment. */
export async function choosePorts(config: Config): Promise<Ports> {
  const { edge, platform } = settingOf(config);
  const choose = ({ host, port }: Setting): number | Promise<number> => port || freePort(host);
  return { edge: await choose(edge), platform: await choose(platform) };
}

/** Waits at most `patienceMs` until every configured port is free. Returns a message if one stays taken. */
export async function configuredPortFault(
  config: Config,
  giveUp: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<string | undefined> {
  const { edge, ...internal } = settingOf(config);
  const inner = [...Object.values(internal), ...metricsSettings(config)].filter(({ port }) => port !== 0);
  // The edge is always tried: with port 0, which is always free, this checks the address.
  const faults = await Promise.all([edge, ...inner].map((setting) => faultOf(setting, giveUp, patienceMs)));
  return faults.find((fault) => fault !== undefined);
}

/** Why this process can't have its configured port; undefined if the launcher chose the port. */
export function lostPortFault(config: Config, name: string): string | undefined {
  const setting = settingOf(config)[name as keyof Ports];
  return setting?.port ? describeFault('EADDRINUSE', setting) : undefined;
}

async function faultOf(
  setting: Setting,
  giveUp: AbortSignal,
  patienceMs: number,
): Promise<string | undefined> {
  for (const end = Date.now() + patienceMs; ; ) {
    try {
      await takeBriefly(setting.host, setting.port);
      return undefined;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      if (code !== 'EADDRINUSE' || Date.now() > end || giveUp.aborted) return describeFault(code, setting);
    }
    await delay(POLL_MS);
  }
}

/** Error codes caused by the port number; all others are caused by the address. */
const PORT_CODES = new Set(['EACCES', 'EPERM', 'EMFILE', 'ENFILE']);

function describeFault(code: string, { name, host, port }: Setting): string {
  if (code === 'EADDRINUSE') {
    const example = name === 'PORT' ? `: PORT=${port + 1} npm start` : '';
    return `${name}: ${port} on ${host} is in use by another program; stop it, or choose another${example}`;
  }
  if (!PORT_CODES.has(code)) {
    const address = name === 'METRICS_PORT' ? 'METRICS_HOST' : 'HOST';
    return `${address}: ${host} is not an address of this machine (${code}); choose another ${address}`;
  }
  return `${name}: can't listen on ${host}:${port} (${code}); choose another ${name}`;
}

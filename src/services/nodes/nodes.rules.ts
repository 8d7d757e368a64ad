import type { StoredReading, StoredReadings } from '../../entities/nodes/gpu-node.js';
import { formatTimestamp } from '../../lib/clock.js';
import type { HeartbeatInput } from './nodes.inputs.js';
import type { NodeOutput } from './nodes.outputs.js';

const MS_PER_SECOND = 1000;
/** Interval of heartbeats. */
const HEARTBEAT_MS = 60_000;

/** Seconds between two times in milliseconds, in tenths, never negative. */
export const secondsBetween = (from: number, until: number): number =>
  Math.round(Math.max(0, until - from) / (MS_PER_SECOND / 10)) / 10;

/** Readings after a heartbeat at `now`: metrics that it doesn't have keep their last value and age. */
export function mergedReadings(
  before: StoredReadings,
  heartbeat: HeartbeatInput,
  now: number,
): StoredReadings {
  const fresh = Object.entries(heartbeat).filter(([, value]) => value !== null && value !== undefined);
  return { ...before, ...Object.fromEntries(fresh.map(([name, value]) => [name, { value, at: now }])) };
}

const shown = <Value>(reading: StoredReading<Value> | undefined, now: number) =>
  reading
    ? {
        value: reading.value,
        received_at: formatTimestamp(reading.at),
        age_seconds: secondsBetween(reading.at, now),
      }
    : null;

/** Readings for display at `now`, each with its age. */
export const shownReadings = (readings: StoredReadings, now: number): NodeOutput['readings'] => ({
  gpu_utilization: shown(readings.gpu_utilization, now),
  memory_used_gb: shown(readings.memory_used_gb, now),
  requests_running: shown(readings.requests_running, now),
  requests_waiting: shown(readings.requests_waiting, now),
  kv_cache_usage: shown(readings.kv_cache_usage, now),
  loaded_models: shown(readings.loaded_models, now),
});

/** A node as a sweep sees it. */
export interface SweptNode {
  id: string;
  status: string;
  healthStatus: string;
  keptInRouting: boolean;
  lastHeartbeatAt?: Date | null | undefined;
}

/** Result of a sweep. */
export interface SweepFindings {
  /** Nodes that just became unhealthy. */
  stale: string[];
  /** Unhealthy nodes that the routing keeps from now on: some of `stale`, and some from earlier sweeps. */
  kept: string[];
  /** Nodes that the routing kept until now and avoids from now on. */
  released: string[];
}

/**
 * Whether so many nodes went silent that the fault may be ours: the network, the platform, or the sweep itself. A
 * single silent node is believed.
 */
const isMassLoss = (lost: number, all: number): boolean => lost > 1 && lost * 2 >= all;

const heardAt = ({ lastHeartbeatAt }: SweptNode): number => lastHeartbeatAt?.getTime() ?? 0;
/** A node that was switched off is expected to be silent. */
const inUse = ({ status }: SweptNode): boolean => status !== 'offline';

/**
 * Nodes from earlier sweeps that fell silent together with `lost`. One outage shows in several sweeps: the last
 * heartbeats before it are spread over the interval between two sweeps.
 */
function lostBefore(
  nodes: readonly SweptNode[],
  lost: readonly SweptNode[],
  sweepMs: number,
): readonly SweptNode[] {
  if (lost.length === 0) return [];
  const since = Math.max(...lost.map(heardAt)) - HEARTBEAT_MS - sweepMs;
  return nodes.filter((node) => node.healthStatus !== 'healthy' && inUse(node) && heardAt(node) >= since);
}

/**
 * Finds the nodes whose last heartbeat is older than `cutoff` (milliseconds); sweeps are `sweepMs` apart. Nodes that
 * are already unhealthy stay so, with two exceptions. Nodes that fell silent shortly before the ones found now may
 * turn out to be part of a mass loss, and the routing keeps them. And kept nodes are released once most of the others
 * are heard again.
 */
export function judgeSweep(nodes: readonly SweptNode[], cutoff: number, sweepMs: number): SweepFindings {
  const healthy = nodes.filter(({ healthStatus }) => healthStatus === 'healthy');
  const stale = healthy.filter((node) => heardAt(node) < cutoff);
  const found = stale.filter(inUse);
  const before = lostBefore(nodes, found, sweepMs);
  const lost = [...before, ...found];
  const left = healthy.filter(inUse).length - found.length;
  const mass = isMassLoss(lost.length, lost.length + left);
  const keptBefore = nodes.filter(
    ({ healthStatus, keptInRouting }) => healthStatus !== 'healthy' && keptInRouting,
  );
  const release = !mass && !isMassLoss(keptBefore.length, keptBefore.length + left);
  const ids = (list: readonly SweptNode[]) => list.map(({ id }) => id);
  return {
    stale: ids(stale),
    kept: mass ? ids(lost) : [],
    released: release ? ids(keptBefore) : [],
  };
}

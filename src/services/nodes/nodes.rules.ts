import type { StoredReading, StoredReadings } from '../../entities/nodes/gpu-node.js';
import { formatTimestamp } from '../../lib/clock.js';
import type { HeartbeatInput } from './nodes.inputs.js';
import type { NodeOutput } from './nodes.outputs.js';

const MS_PER_SECOND = 1000;

/** Seconds between two times in milliseconds, to the tenth, never negative. */
export const secondsBetween = (from: number, until: number): number =>
  Math.round(Math.max(0, until - from) / (MS_PER_SECOND / 10)) / 10;

/** Readings after a heartbeat at `now`: what it doesn't carry stays, with its age. */
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

/** Readings as they are shown at `now`, each with its age. */
export const shownReadings = (readings: StoredReadings, now: number): NodeOutput['readings'] => ({
  gpu_utilization: shown(readings.gpu_utilization, now),
  memory_used_gb: shown(readings.memory_used_gb, now),
  requests_running: shown(readings.requests_running, now),
  requests_waiting: shown(readings.requests_waiting, now),
  kv_cache_usage: shown(readings.kv_cache_usage, now),
  loaded_models: shown(readings.loaded_models, now),
});

/** What a sweep looks at. */
export interface SweptNode {
  id: string;
  status: string;
  healthStatus: string;
  keptInRouting: boolean;
  lastHeartbeatAt?: Date | null | undefined;
}

/** What a sweep found. */
export interface SweepFindings {
  /** Nodes that have just become unhealthy. */
  stale: string[];
  /** Unhealthy nodes that routing keeps from now on. */
  kept: string[];
  /** Nodes that routing kept and now avoids. */
  released: string[];
}

/**
 * Whether so many nodes went silent that the fault may be ours: the network, the platform, or the sweep itself. One node
 * alone is believed.
 */
const isMassLoss = (lost: number, all: number): boolean => lost > 1 && lost * 2 >= all;

/**
 * Finds the nodes whose last heartbeat is older than `cutoff` (milliseconds). Nodes that were unhealthy already stay as
 * they are, but for those that routing keeps: once most of the others are heard again, silence counts.
 */
export function judgeSweep(nodes: readonly SweptNode[], cutoff: number): SweepFindings {
  const healthy = nodes.filter(({ healthStatus }) => healthStatus === 'healthy');
  const stale = healthy.filter(({ lastHeartbeatAt }) => (lastHeartbeatAt?.getTime() ?? 0) < cutoff);
  // Silence is expected of a node that was switched off.
  const inUse = ({ status }: SweptNode): boolean => status !== 'offline';
  const lost = stale.filter(inUse);
  const mass = isMassLoss(lost.length, healthy.filter(inUse).length);
  const keptBefore = nodes.filter(
    ({ healthStatus, keptInRouting }) => healthStatus !== 'healthy' && keptInRouting,
  );
  const left = healthy.filter(inUse).length - lost.length;
  const release = !mass && !isMassLoss(keptBefore.length, keptBefore.length + left);
  const ids = (list: readonly SweptNode[]) => list.map(({ id }) => id);
  return {
    stale: ids(stale),
    kept: mass ? ids(lost) : [],
    released: release ? ids(keptBefore) : [],
  };
}

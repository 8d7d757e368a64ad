import type { StoredReading, StoredReadings } from '../../entities/nodes/gpu-node.js';
import { formatTimestamp } from '../../lib/clock.js';
import type { HeartbeatInput } from './nodes.inputs.js';
import type { NodeOutput } from './nodes.outputs.js';

const MS_PER_SECOND = 1000;
/** Nodes send a heartbeat this often. */
const HEARTBEAT_MS = 60_000;

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
  /** Unhealthy nodes that routing keeps from now on: of `stale`, and of those that earlier sweeps found. */
  kept: string[];
  /** Nodes that routing kept and now avoids. */
  released: string[];
}

/**
 * Whether so many nodes went silent that the fault may be ours: the network, the platform, or the sweep itself. One node
 * alone is believed.
 */
const isMassLoss = (lost: number, all: number): boolean => lost > 1 && lost * 2 >= all;

const heardAt = ({ lastHeartbeatAt }: SweptNode): number => lastHeartbeatAt?.getTime() ?? 0;
/** Silence is expected of a node that was switched off. */
const inUse = ({ status }: SweptNode): boolean => status !== 'offline';

/**
 * Nodes that earlier sweeps found and that fell silent together with `lost`. One outage shows in several sweeps: the last
 * heartbeats before it are spread over the time between two of them.
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
 * Finds the nodes whose last heartbeat is older than `cutoff` (milliseconds); sweeps are `sweepMs` apart. Nodes that were
 * unhealthy already stay as they are, with two exceptions. Those that fell silent a moment before the ones found now may turn
 * out to be part of a mass, which routing keeps. And those that it keeps are let go once most of the others are heard again.
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

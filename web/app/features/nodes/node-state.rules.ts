import type { LiveNode } from './live-nodes';

/** The state of a node. */
export type NodeState = 'healthy' | 'silent' | 'unhealthy' | 'waiting' | 'draining' | 'drained' | 'offline';

/** The order of urgency. */
export const NODE_STATES: readonly NodeState[] = [
  'unhealthy',
  'silent',
  'draining',
  'drained',
  'waiting',
  'healthy',
  'offline',
];

const MS = 1_000;

/** Seconds since the last heartbeat; null before the first. */
export const ageOf = ({ heardAtMs }: Pick<LiveNode, 'heardAtMs'>, nowMs: number): number | null =>
  heardAtMs === null ? null : Math.max(0, Math.floor((nowMs - heardAtMs) / MS));

/** Whether the last heartbeat is older than allowed. */
export const isStale = (
  node: Pick<LiveNode, 'heardAtMs'>,
  nowMs: number,
  staleAfterSeconds: number,
): boolean => (ageOf(node, nowMs) ?? 0) > staleAfterSeconds;

/** A node is `silent` from when a heartbeat is overdue until the server's check makes it unhealthy. */
export function stateOf(
  node: Pick<LiveNode, 'status' | 'healthStatus' | 'drainedAt' | 'heardAtMs'>,
  nowMs: number,
  staleAfterSeconds: number,
): NodeState {
  if (node.status === 'OFFLINE') return 'offline';
  if (node.status === 'DRAINING') return node.drainedAt == null ? 'draining' : 'drained';
  if (node.heardAtMs === null) return 'waiting';
  if (node.healthStatus === 'UNHEALTHY') return 'unhealthy';
  return isStale(node, nowMs, staleAfterSeconds) ? 'silent' : 'healthy';
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** A duration in its two largest units: `42 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function shortSpan(seconds: number): string {
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ${seconds % MINUTE} s`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ${Math.floor((seconds % HOUR) / MINUTE)} min`;
  return `${Math.floor(seconds / DAY)} d ${Math.floor((seconds % DAY) / HOUR)} h`;
}

/** Whether a node matches all words of a search. */
export function isFound(node: LiveNode, text: string): boolean {
  const { name, provider, region, gpuType, endpointUrl, readings } = node;
  const models = readings.loadedModels?.value ?? [];
  const all = [name, provider, region, gpuType, endpointUrl, ...models].join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

import { madeOnce } from '../../ui/made-once';
import { StatusWord } from '../../ui/status-word';
import type { LiveNode } from './live-nodes';
import { ageOf, isStale, type NodeState, shortSpan, stateOf } from './node-state.rules';
import classes from './nodes.module.css';
import { useNodeTime } from './use-node-time';

const TONES: Record<NodeState, 'good' | 'warn' | 'bad' | 'idle'> = {
  healthy: 'good',
  silent: 'bad',
  unhealthy: 'bad',
  waiting: 'idle',
  draining: 'warn',
  drained: 'idle',
  offline: 'idle',
};

/** Words for states whose name isn't clear enough. */
const WORDS: Partial<Record<NodeState, string>> = { waiting: 'no heartbeat yet' };

export const stateWord = (state: NodeState): string => WORDS[state] ?? state;

interface NodeFactProps {
  node: LiveNode;
  staleAfterSeconds: number;
}

/** The live state of a node. `brief`: in one word. */
export function StateOfNode({ node, staleAfterSeconds, brief = false }: NodeFactProps & { brief?: boolean }) {
  const state = useNodeTime((now) => stateOf(node, now, staleAfterSeconds));
  return (
    <>
      <StatusWord tone={TONES[state]}>{stateWord(state)}</StatusWord>
      {!brief && state === 'unhealthy' && node.keptInRouting && (
        <span className={classes.kept}> kept in routing</span>
      )}
    </>
  );
}

/** Seconds since the last heartbeat, updated each second. */
export function HeartbeatAge({ node, staleAfterSeconds }: NodeFactProps) {
  const age = useNodeTime((now) => ageOf(node, now));
  // No heartbeat is expected of a machine that is switched off.
  const stale = useNodeTime((now) => node.status !== 'OFFLINE' && isStale(node, now, staleAfterSeconds));
  if (age === null) return 'never';
  return (
    <span className={classes.age} data-stale={stale || undefined}>
      {shortSpan(age)}
    </span>
  );
}

/** The calls that must finish before a node can be stopped. */
export function CallsInFlight({ node }: { node: LiveNode }) {
  if (node.inFlight == null) return '–';
  return node.status === 'ACTIVE' || node.inFlight === 0 ? node.inFlight : `${node.inFlight} left`;
}

const tenths = madeOnce(() => new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 }));

/** 87.5% */
export const percent = (value: number): string => `${tenths().format(value)}%`;
/** 23.4 GB */
export const gigabytes = (value: number): string => `${tenths().format(value)} GB`;
/** 1,234.5 */
export const decimal = (value: number): string => tenths().format(value);

const thousandths = madeOnce(() => new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 }));
/** Rounded to thousandths, as by the server: 10.125 */
export const precise = (value: number): string => thousandths().format(value);

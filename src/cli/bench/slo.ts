import type { Measured } from './one-call.js';
import { percentile } from './statistics.js';

const NAMES = ['ttft', 'itl', 'tpot', 'latency'] as const;
type SloName = (typeof NAMES)[number];

/** A service level objective: the maximum milliseconds of each measure. */
export interface Slo {
  text: string;
  limits: Partial<Record<SloName, number>>;
}

const P95 = 0.95;
const MS_PER_SECOND = 1000;

/** Parses `ttft=500ms,latency=2s`. @returns The objective, or what is wrong with the text. */
export function parseSlo(text: string): Slo | string {
  const limits: Slo['limits'] = {};
  for (const part of text.split(',')) {
    const [, name, value, unit] = /^\s*(\w+)=(\d+(?:\.\d+)?)(ms|s)\s*$/.exec(part) ?? [];
    if (!NAMES.some((known) => known === name)) return `must be like ttft=500ms, with ${NAMES.join(', ')}`;
    limits[name as SloName] = Number(value) * (unit === 's' ? MS_PER_SECOND : 1);
  }
  return { text, limits };
}

/** Whether a request met the objective. Of the gaps between tokens, 95 % have to meet it. */
export function meets(call: Measured, { limits }: Slo): boolean {
  if (!call.ok) return false;
  const measures: Record<SloName, number | undefined> = {
    ttft: call.ttftMs,
    itl: call.gapsMs.length > 0 ? percentile(call.gapsMs, P95) : 0,
    tpot: call.tpotMs ?? 0,
    latency: call.latencyMs,
  };
  return NAMES.every((name) => {
    const limit = limits[name];
    return limit === undefined || (measures[name] ?? Number.POSITIVE_INFINITY) <= limit;
  });
}

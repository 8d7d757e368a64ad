import { DAY_MS, formatTimestamp, HOUR_MS, hourStart, lastDays } from '../../lib/clock.js';
import { type BucketCount, latencyQuantile } from '../../lib/latency-sketch.js';
import { countedUpTo } from './late-figures.rules.js';
import type { StatusOutput } from './status.outputs.js';

export const STATUS_DAYS = 90;
const P95 = 0.95;
const MOST_INCIDENTS = 100;

/** Counts of a model on a UTC day. */
export interface DayOfModel {
  model: string;
  day: string;
  successes: number;
  errors: number;
  latency: readonly BucketCount[];
}

/** An hour in which too many calls of a model failed. */
export interface BadHour {
  model: string;
  hour_ms: number;
  requests: number;
  errors: number;
}

interface StatusParts {
  now: number;
  models: readonly string[];
  days: readonly DayOfModel[];
  badHours: readonly BadHour[];
  /** The last hour with calls of each model, in milliseconds. */
  lastCalls: ReadonlyMap<string, number>;
  /** The first hour waiting for its roll-up, in milliseconds. */
  waitingSince: number | undefined;
}

/** Builds the availability of all models. */
export function statusReport(parts: StatusParts): StatusOutput {
  const { now, models, days, badHours, lastCalls, waitingSince } = parts;
  const incidents = incidentsOf(badHours);
  const ofModel = Map.groupBy(days, ({ model }) => model);
  // The current hour isn't rolled up yet.
  const latest = hourStart(now);
  const upTo = countedUpTo(now, waitingSince);
  const isLate = upTo < now;
  const dates = lastDays(now, STATUS_DAYS);
  return {
    generated_at: formatTimestamp(upTo),
    is_late: isLate,
    models: models.map((name) => {
      const own = ofModel.get(name) ?? [];
      const byDay = new Map(own.map((day) => [day.day, day]));
      const isDegraded = incidents.some(({ model, until }) => model === name && until >= latest);
      const isCalled = (lastCalls.get(name) ?? 0) >= latest - DAY_MS;
      return {
        model_public_name: name,
        state: isLate || !isCalled ? 'no_data' : isDegraded ? 'degraded' : 'operational',
        success_rate: rate(own),
        days: dates.map((date) => dayOf(date, byDay.get(date))),
      };
    }),
    incidents: incidents.slice(0, MOST_INCIDENTS).map(({ model, from, until, requests, errors }) => ({
      model_public_name: model,
      started_at: formatTimestamp(from),
      ended_at: formatTimestamp(until),
      requests,
      errors,
    })),
  };
}

function dayOf(date: string, day: DayOfModel | undefined): StatusOutput['models'][number]['days'][number] {
  if (!day) return { date, requests: 0, success_rate: null, p95_latency_ms: null };
  return {
    date,
    requests: day.successes + day.errors,
    success_rate: rate([day]),
    p95_latency_ms: day.latency.length > 0 ? latencyQuantile(day.latency, P95) : null,
  };
}

function rate(days: readonly DayOfModel[]): number | null {
  const successes = days.reduce((sum, day) => sum + day.successes, 0);
  const requests = days.reduce((sum, day) => sum + day.successes + day.errors, 0);
  return requests === 0 ? null : successes / requests;
}

interface Incident {
  model: string;
  from: number;
  until: number;
  requests: number;
  errors: number;
}

/** Merges consecutive bad hours of a model into incidents, newest first. */
function incidentsOf(hours: readonly BadHour[]): Incident[] {
  const incidents: Incident[] = [];
  const open = new Map<string, Incident>();
  for (const { model, hour_ms: from, requests, errors } of hours.toSorted((a, b) => a.hour_ms - b.hour_ms)) {
    const last = open.get(model);
    if (last?.until === from) {
      last.until += HOUR_MS;
      last.requests += requests;
      last.errors += errors;
      continue;
    }
    const incident = { model, from, until: from + HOUR_MS, requests, errors };
    open.set(model, incident);
    incidents.push(incident);
  }
  return incidents.sort((a, b) => b.until - a.until || b.from - a.from);
}

import { z } from 'zod';
import { count, timestamp } from '../../lib/output-fields.js';

export const statusDayOutput = z
  .object({
    date: z.string().describe('UTC day, `YYYY-MM-DD`.'),
    requests: count(
      'Calls that succeeded or failed. Calls that their callers ended within 30 seconds and requests that a node refused (400, 413, 422) are left out. So are hours in which too few accounts called, unless they have enough accounts together with others of the day.',
    ),
    success_rate: z.number().nullable().describe('Successes per call, 0 to 1; null without calls.'),
    p95_latency_ms: z
      .int()
      .nullable()
      .describe('95th percentile of the latency of successes in milliseconds, within 1 %; null without any.'),
  })
  .meta({ id: 'StatusDay', description: 'One UTC day of a model.' });

export const statusModelOutput = z
  .object({
    model_public_name: z.string().describe('Public name of the model.'),
    state: z
      .enum(['operational', 'degraded', 'no_data'])
      .describe(
        'Current state: `degraded` during an incident, `no_data` without calls in the last 24 hours and while figures are late, else `operational`.',
      ),
    success_rate: z
      .number()
      .nullable()
      .describe('Successes per call over all days shown, 0 to 1; null without calls.'),
    days: z.array(statusDayOutput).describe('The last 90 UTC days, oldest first.'),
  })
  .meta({ id: 'StatusModel', description: 'Availability of a model.' });

export const incidentOutput = z
  .object({
    model_public_name: z.string().describe('Public name of the model.'),
    started_at: timestamp('Start of the first hour.'),
    ended_at: timestamp('End of the last hour.'),
    requests: count('Calls that succeeded or failed in that time, with the same exceptions as for a day.'),
    errors: count('Failed calls in that time.'),
  })
  .meta({
    id: 'Incident',
    description: 'Consecutive hours in which more than 5 % of at least 20 calls to a model failed.',
  });

export const statusOutput = z
  .object({
    generated_at: timestamp('Time of the figures.'),
    is_late: z
      .boolean()
      .describe(
        'Whether the figures are late: calls since `generated_at`, two hours ago or more, are not counted yet.',
      ),
    models: z.array(statusModelOutput).describe('All models.'),
    incidents: z.array(incidentOutput).describe('Incidents of the last 90 days, newest first, at most 100.'),
  })
  .meta({
    id: 'Status',
    description: 'Availability of all models, computed from the calls of all accounts.',
  });
export type StatusOutput = z.infer<typeof statusOutput>;

import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

export const adjustmentOutput = z
  .object({
    account_id: uuid('Account ID.'),
    amount_usd: decimal('Amount of the adjustment in US dollars, negative if it was taken away.'),
    balance_usd: decimal('Balance after the adjustment in US dollars.'),
  })
  .meta({ id: 'CreditAdjustment', description: 'A correction of the balance of an account.' });
export type AdjustmentOutput = z.infer<typeof adjustmentOutput>;

export const actionChangeOutput = z
  .object({
    field: z.string().describe('Name of the field.'),
    before: z.string().nullable().describe('Value before; null if unset.'),
    after: z.string().nullable().describe('Value after; null if unset.'),
  })
  .meta({ id: 'AdminActionChange', description: 'A field that an administrator changed.' });

export const actionOutput = z
  .object({
    id: uuid('ID of the entry.'),
    action: z.string().describe('What was done, such as `node.update`.'),
    source: z
      .enum(['session', 'command_line'])
      .describe('Where it was done: in a `session`, or on the `command_line` of the server.'),
    actor_id: uuid('Account of the administrator. Null on the command line.').nullable(),
    actor_email: z
      .string()
      .nullable()
      .describe("The administrator's email address, while the account exists."),
    subject_id: z.string().describe('ID or name of what was changed.'),
    subject_email: z
      .string()
      .nullable()
      .describe('The email address of a changed account, while it exists. Null for everything else.'),
    changes: z.array(actionChangeOutput).describe('The changed fields, by name.'),
    reason: z.string().nullable().describe('The reason that was given.'),
    created_at: timestamp('Time of the action.'),
  })
  .meta({ id: 'AdminAction', description: 'Something an administrator did.' });
export type ActionOutput = z.infer<typeof actionOutput>;
export const actionsOutput = z.array(actionOutput).describe('The audit log, newest first.');

export const jobOutput = z
  .object({
    name: z.string().describe('Name of the job.'),
    every: z.string().nullable().describe('Time between two runs.'),
    running: z.boolean().describe('Whether it is running.'),
    last_run_at: timestamp('Start of the last run. Null before the first.').nullable(),
    last_finished_at: timestamp('End of the last run. Null before the first.').nullable(),
    next_run_at: timestamp('Start of the next run.').nullable(),
    failures: z.int().describe('Number of failed runs.'),
    failed_at: timestamp('Time of the last failure.').nullable(),
    failure_reason: z.string().nullable().describe('Reason of the last failure.'),
  })
  .meta({ id: 'ScheduledJob', description: 'A scheduled job.' });
export type JobOutput = z.infer<typeof jobOutput>;
export const jobsOutput = z.array(jobOutput).describe('Scheduled jobs by name. Empty if none ever ran.');

export const routedDeploymentOutput = z
  .object({
    id: z.string().describe('ID in the routing file.'),
    status: z.enum(['serving', 'parked']).nullable().describe('Whether failures have parked it.'),
    takes_calls: z
      .enum(['yes', 'if_no_other_can', 'no'])
      .nullable()
      .describe('Whether it takes calls, considering its failures and its node.'),
    consecutive_failures: z.int().nullable().describe('Failed calls since the last success.'),
    last_failure: z
      .string()
      .nullable()
      .describe(
        'Why the last of these failed: `timeout`, a status such as `status_500`, or the code of a failed connection. Null if the last call succeeded.',
      ),
    parked_until: timestamp('When it takes calls again. Null if it is not parked.').nullable(),
    parked_for_seconds: z
      .number()
      .nullable()
      .describe('Seconds until it takes calls again. Null if it is not parked.'),
    calls_in_flight: z
      .int()
      .nullable()
      .describe('Calls in flight to its host and port, from all processes that route.'),
    input_price_per_million_usd: decimal(
      'Input price of the routing file in US dollars per million tokens.',
    ).nullable(),
    output_price_per_million_usd: decimal(
      'Output price of the routing file in US dollars per million tokens.',
    ).nullable(),
    price_matches: z
      .boolean()
      .nullable()
      .describe(
        "Whether these are the prices that calls are charged with. Null if the prices aren't known, as for a proxy that doesn't report them.",
      ),
  })
  .meta({
    id: 'RoutedDeployment',
    description: 'A deployment of a model. Null: not reported.',
  });

export const routedModelOutput = z
  .object({
    model_public_name: z.string().describe('Public name of the model.'),
    fallbacks: z.array(z.string()).describe('Models that answer while all deployments are parked or closed.'),
    deployments: z
      .array(routedDeploymentOutput)
      .describe('Its deployments, in the order of the routing file.'),
  })
  .meta({ id: 'RoutedModel', description: 'Where calls of a model go.' });
export type RoutedModelOutput = z.infer<typeof routedModelOutput>;
export const routingOutput = z.array(routedModelOutput).describe('Where calls go, by model.');

export const warningOutput = z
  .object({ message: z.string().describe('What is wrong, and how to fix it.') })
  .meta({ id: 'InstallationWarning', description: 'Something that an administrator should fix.' });
export type WarningOutput = z.infer<typeof warningOutput>;
export const warningsOutput = z
  .array(warningOutput)
  .describe('What an administrator should fix. Empty if there is nothing.');

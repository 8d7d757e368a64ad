import { z } from 'zod';
import { decimal, uuid } from '../../lib/output-fields.js';

const milliseconds = (description: string) => z.int().nullable().describe(description);

export const runOutput = z
  .object({
    id: uuid('Id of the run.'),
    model_public_name: z.string().describe('The model that was asked for.'),
    served_model_public_name: z
      .string()
      .nullable()
      .describe('The model that answered: a fallback where the one asked for was unavailable. Null before.'),
    status: z
      .enum(['pending', 'running', 'success', 'error', 'cancelled'])
      .describe('`pending` waits for its turn, `running` has begun; the others are final.'),
    response_content: z
      .string()
      .nullable()
      .describe(
        'The answer. After an error or a cancellation, the part that had arrived. Null before the end.',
      ),
    finish_reason: z
      .string()
      .nullable()
      .describe('Why the model stopped; `length` where `max_tokens` cut the answer.'),
    latency_ms: milliseconds('Milliseconds to the last token. Null before the end.'),
    ttft_ms: milliseconds('Milliseconds to the first token. Null before it.'),
    input_tokens: z.int().describe('Tokens of the prompt.'),
    output_tokens: z.int().describe('Tokens of the answer.'),
    cost_usd: decimal('Dollars charged: always 0.'),
    list_cost_usd: decimal('Dollars that the same call would have cost on `/v1`.'),
    error_code: z.string().nullable().describe('What went wrong, for programs.'),
    error_message: z.string().nullable().describe('What went wrong, for people.'),
  })
  .meta({ id: 'PlaygroundRun', description: 'One model’s answer in the model playground.' });
export type RunOutput = z.infer<typeof runOutput>;

export const parametersOutput = z
  .object({
    temperature: z.number().nullable().describe('Sampling temperature; null: left to the model.'),
    max_tokens: z.int().describe('Most tokens that each run may generate.'),
    top_p: z.number().nullable().describe('Nucleus sampling; null: left to the model.'),
  })
  .meta({ id: 'PlaygroundParametersUsed', description: 'How the models of a session sampled.' });

const shown = {
  prompt: z.string().describe('What every model was asked.'),
  system_prompt: z.string().nullable().describe('Instructions that stood before the prompt.'),
  models: z.array(z.string()).describe('Public names of the models, in the order of the runs.'),
  parameters: parametersOutput,
  runs: z.array(runOutput).describe('One run for each model.'),
  created_at: z.string().describe('Time of its making. UTC, six digits and Z.'),
};

export const sessionOutput = z
  .object({
    id: uuid('Id of the session.'),
    ...shown,
    shared: z.boolean().describe('Whether everybody who has the address can read it.'),
    share_slug: z
      .string()
      .nullable()
      .describe('Last part of its public address. It stays when sharing ends, for the next time.'),
    public_url: z.string().nullable().describe('Its public address while it is shared.'),
    truncated: z
      .boolean()
      .describe('Whether texts are cut here. Lists show the first 1,000 characters of each.'),
  })
  .meta({ id: 'PlaygroundSession', description: 'A prompt and the answers of 1 to 4 models.' });
export const sessionsOutput = z.array(sessionOutput).describe('Sessions, newest first, at most 50.');
export type SessionOutput = z.infer<typeof sessionOutput>;

export const sharedSessionOutput = z
  .object(shown)
  .meta({ id: 'SharedPlaygroundSession', description: 'A shared session. It says nothing about its owner.' });
export type SharedSessionOutput = z.infer<typeof sharedSessionOutput>;

export const sharingOutput = z
  .object({
    share_slug: z.string().describe('Last part of the public address.'),
    public_url: z.string().describe('The public address.'),
  })
  .meta({ id: 'PlaygroundSharing', description: 'Where a shared session can be read.' });
export type SharingOutput = z.infer<typeof sharingOutput>;

export const runEventOutput = z
  .object({
    session_id: uuid('Id of the session.'),
    run_id: uuid('Id of the run.'),
    model_public_name: z.string().describe('The model that was asked for.'),
    status: runOutput.shape.status,
    offset: z
      .int()
      .describe(
        'Where `delta` begins in the answer, in UTF-16 code units. The first event of a run begins at 0 and brings all that has arrived.',
      ),
    delta: z.string().describe('What has arrived of the answer from `offset` on; may be empty.'),
    ttft_ms: runOutput.shape.ttft_ms,
    run: runOutput
      .nullable()
      .describe('The whole run with its final metrics, in its last event; null before.'),
  })
  .meta({ description: 'What is new of one run.' });
export type RunEventOutput = z.infer<typeof runEventOutput>;

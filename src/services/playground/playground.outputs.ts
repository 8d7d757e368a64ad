import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

const milliseconds = (description: string) => z.int().nullable().describe(description);

export const runOutput = z
  .object({
    id: uuid('Run ID.'),
    model_public_name: z.string().describe('Requested model.'),
    served_model_public_name: z
      .string()
      .nullable()
      .describe(
        'Model that answered: a fallback if the requested model was unavailable. Null before the answer.',
      ),
    status: z
      .enum(['pending', 'running', 'success', 'error', 'cancelled'])
      .describe('Status: `pending` is queued, `running` has started; the others are final.'),
    response_content: z
      .string()
      .nullable()
      .describe(
        'The answer, or the refusal; after an error or a cancellation, the part received until then. Thinking that the model writes in front of its answer, in tags such as `<think>`, is part of it. Null while the run is unfinished.',
      ),
    finish_reason: z
      .string()
      .nullable()
      .describe('Why the model stopped; `length` means that `max_tokens` cut off the answer.'),
    latency_ms: milliseconds('Time to the last token in milliseconds; null while the run is unfinished.'),
    ttft_ms: milliseconds('Time to the first token in milliseconds; null before it arrives.'),
    input_tokens: z.int().describe('Input tokens.'),
    output_tokens: z.int().describe('Output tokens.'),
    cost_usd: decimal('Amount charged in US dollars, always 0.'),
    list_cost_usd: decimal('What the same call would cost on `/v1`, in US dollars.'),
    error_code: z.string().nullable().describe('Error code, if the run failed.'),
    error_message: z.string().nullable().describe('Error message, if the run failed.'),
  })
  .meta({ id: 'PlaygroundRun', description: 'The run of one model in the playground.' });
export type RunOutput = z.infer<typeof runOutput>;

export const parametersOutput = z
  .object({
    temperature: z.number().nullable().describe("Sampling temperature; null for the model's own."),
    max_tokens: z.int().describe('Maximum output tokens per run.'),
    top_p: z.number().nullable().describe("Nucleus sampling; null for the model's own."),
  })
  .meta({ id: 'PlaygroundParametersUsed', description: 'Sampling parameters of a session.' });

const shown = {
  prompt: z.string().describe('Prompt sent to every model.'),
  system_prompt: z.string().nullable().describe('System prompt.'),
  models: z.array(z.string()).describe('Public names of the models, in the order of the runs.'),
  parameters: parametersOutput.describe('Sampling parameters.'),
  runs: z.array(runOutput).describe('One run per model.'),
  created_at: timestamp('Creation time.'),
};

export const playgroundSessionOutput = z
  .object({
    id: uuid('Session ID.'),
    ...shown,
    shared: z.boolean().describe('Whether the session is shared: anyone with the public URL can read it.'),
    share_slug: z
      .string()
      .nullable()
      .describe('Slug of the public URL. It is kept when sharing stops and used again when sharing resumes.'),
    public_url: z.string().nullable().describe('Public URL while the session is shared.'),
    truncated: z
      .boolean()
      .describe('Whether texts are truncated. Lists contain the first 1,000 characters of each text.'),
  })
  .meta({ id: 'PlaygroundSession', description: 'A prompt and the answers of 1 to 4 models.' });
export const sessionsOutput = z.array(playgroundSessionOutput).describe('Sessions, newest first.');
export type SessionOutput = z.infer<typeof playgroundSessionOutput>;

export const sharedSessionOutput = z
  .object(shown)
  .meta({ id: 'SharedPlaygroundSession', description: "A shared session. It doesn't identify its owner." });
export type SharedSessionOutput = z.infer<typeof sharedSessionOutput>;

export const sharingOutput = z
  .object({
    share_slug: z.string().describe('Slug of the public URL.'),
    public_url: z.string().describe('Public URL.'),
  })
  .meta({ id: 'PlaygroundSharing', description: 'The public URL of a shared session.' });
export type SharingOutput = z.infer<typeof sharingOutput>;

export const runEventOutput = z
  .object({
    session_id: uuid('Session ID.'),
    run_id: uuid('Run ID.'),
    model_public_name: z.string().describe('Requested model.'),
    status: runOutput.shape.status,
    offset: z
      .int()
      .describe(
        'Position of `delta` in the answer, in UTF-16 code units. The first event of a run starts at 0 and contains everything received so far.',
      ),
    delta: z.string().describe('New text of the answer from `offset` on; may be empty.'),
    ttft_ms: runOutput.shape.ttft_ms,
    run: runOutput
      .nullable()
      .describe('The complete run with its final metrics, in its last event; otherwise null.'),
  })
  .meta({ description: 'Progress of a run.' });
export type RunEventOutput = z.infer<typeof runEventOutput>;

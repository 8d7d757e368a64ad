import type { ResponsesRequest } from './request-schema.js';

/** An item of a response's output. */
export type OutputItem = { id: string; type: string; status?: string } & Record<string, unknown>;

/** The members of a chat answer's `usage` that are translated. */
export interface ChatUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  total_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
  completion_tokens_details?: { reasoning_tokens?: number } | null;
}

/** The state of a response at some moment. */
export interface Progress {
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  /** Why the model stopped, as a `finish_reason` of chat. */
  finish: string | null;
  model: string;
  output: readonly OutputItem[];
  usage: ChatUsage | null;
  error: { code: string; message: string } | null;
}

/** The members of a request that its response repeats. */
export const echoOf = (request: ResponsesRequest): Record<string, unknown> => ({
  background: false,
  instructions: request.instructions ?? null,
  max_output_tokens: request.max_output_tokens ?? null,
  metadata: request.metadata ?? {},
  parallel_tool_calls: request.parallel_tool_calls ?? true,
  previous_response_id: null,
  reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
  store: false,
  temperature: request.temperature ?? null,
  text: { format: request.text?.format ?? { type: 'text' } },
  tool_choice: request.tool_choice ?? 'auto',
  tools: request.tools ?? [],
  top_p: request.top_p ?? null,
  truncation: 'disabled',
  user: request.user ?? null,
});

/** The parts of a response that are known before the model answers. */
export interface ResponseFrame {
  /** JSON of the request's members that are repeated. Serialised once, because a stream contains it three times. */
  echo: string;
  requestId: string;
  /** In seconds. */
  createdAt: number;
  /** The public name of the requested model. */
  model: string;
}

/** Returns a function that renders the JSON of a response from its progress. */
export function responseTexts({ echo, requestId, createdAt }: ResponseFrame): (progress: Progress) => string {
  const id = `resp_${requestId.replaceAll('-', '')}`;
  const constant = joined(JSON.stringify({ id, object: 'response', created_at: createdAt }), echo);
  return ({ status, finish, model, output, usage, error }) =>
    joined(
      constant,
      JSON.stringify({
        status,
        error,
        incomplete_details: status === 'incomplete' ? { reason: reasonOf(finish) } : null,
        model,
        output,
        usage: usage && usageOf(usage),
      }),
    );
}

/** Joins the JSON of two objects, neither of them empty, to one. */
const joined = (one: string, other: string): string => `${one.slice(0, -1)},${other.slice(1)}`;

const reasonOf = (finish: string | null): string =>
  finish === 'content_filter' ? 'content_filter' : 'max_output_tokens';

/** The status of an answer that ended with this `finish_reason`. */
export const responseStatus = (finish: string | null): 'completed' | 'incomplete' =>
  finish === 'length' || finish === 'content_filter' ? 'incomplete' : 'completed';

function usageOf(usage: ChatUsage): Record<string, unknown> {
  const input = usage.prompt_tokens ?? 0;
  const output = usage.completion_tokens ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.prompt_tokens_details?.cached_tokens ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.completion_tokens_details?.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens ?? input + output,
  };
}

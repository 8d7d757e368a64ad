import { z } from 'zod';

/** The supported members of a request to the Responses API. The chat request made from it is checked like any other. */

const text = z.string();

/** An array that is read up to its first fault. zod would collect all faults, which takes long, and only one is reported. */
const list = <Entry extends z.ZodType>(entry: Entry) =>
  z.array(z.unknown()).transform((given, context) => {
    const entries: z.output<Entry>[] = [];
    for (const [index, value] of given.entries()) {
      const { success, data, error } = entry.safeParse(value);
      if (!success) {
        const issue = error.issues[0]!;
        context.issues.push({ ...issue, path: [index, ...issue.path] } as z.core.$ZodRawIssue);
        return z.NEVER;
      }
      entries.push(data);
    }
    return entries;
  });

/** An object whose members aren't checked here; zod would copy it member by member. */
const anyObject = z.custom<Record<string, unknown>>(
  (given) => typeof given === 'object' && given !== null && !Array.isArray(given),
  'must be an object',
);

const contentPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_text'), text }),
  z.object({ type: z.literal('output_text'), text }),
  z.object({ type: z.literal('refusal'), refusal: text }),
  z.object({ type: z.literal('input_image'), image_url: text, detail: text.nullish() }),
  z.object({ type: z.literal('input_file'), file_data: text, filename: text.nullish() }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({ data: text, format: text }),
  }),
]);
export type ContentPart = z.infer<typeof contentPart>;

const content = z.union([text, list(contentPart)], {
  error: ({ input }) => (input === undefined ? 'is required' : 'must be a text or a list of parts'),
});

const message = z.object({
  type: z.literal('message'),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content,
});
const functionCall = z.object({
  type: z.literal('function_call'),
  call_id: text,
  name: text,
  arguments: text,
});
const functionOutput = z.object({
  type: z.literal('function_call_output'),
  call_id: text,
  output: content,
});
/** Accepted, but not sent to the model: a chat request can't carry reasoning. */
const reasoning = z.object({ type: z.literal('reasoning') });

/** A message may omit its type. */
const typed = (given: unknown): unknown =>
  typeof given === 'object' && given !== null && 'role' in given ? { type: 'message', ...given } : given;

const item = z.preprocess(
  typed,
  z.discriminatedUnion(
    'type',
    [message, functionCall, functionOutput, reasoning],
    'must be message, function_call, function_call_output or reasoning',
  ),
);
export type InputItem = z.infer<typeof item>;

const functionTool = z.object({
  type: z.literal('function', 'must be function: the service runs no tools itself'),
  name: text,
  description: text.nullish(),
  parameters: anyObject.nullish(),
  strict: z.boolean().nullish(),
});
export type FunctionTool = z.infer<typeof functionTool>;

const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), name: text }),
]);

const format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: text,
    schema: anyObject,
    description: text.nullish(),
    strict: z.boolean().nullish(),
  }),
]);

/** All faults are reported as one. */
const metadata = anyObject.refine(
  (given) => Object.values(given).every((value) => typeof value === 'string'),
  'must have texts as values',
);

/** Members that refer to stored state of an earlier call. Nothing is stored. */
const stateful = (remedy: string) => z.null(`is not supported: ${remedy}`).optional();

export const responsesRequest = z.object({
  model: text.min(1),
  input: z.union([text, list(item)], {
    error: ({ input }) => (input === undefined ? 'is required' : 'must be a text or a list of items'),
  }),
  instructions: text.nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  tools: list(functionTool).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.object({ format: format.nullish(), verbosity: text.nullish() }).nullish(),
  reasoning: z.object({ effort: text.nullish() }).nullish(),
  metadata: metadata.nullish(),
  user: text.nullish(),
  safety_identifier: text.nullish(),
  prompt_cache_key: text.nullish(),
  store: z.literal(false, 'must be false or left out: responses are not stored').nullish(),
  background: z.literal(false, 'must be false or left out: responses are not stored').nullish(),
  truncation: z.literal('disabled', 'must be disabled: input is not shortened').nullish(),
  previous_response_id: stateful('send the whole conversation in "input"'),
  conversation: stateful('send the whole conversation in "input"'),
  prompt: stateful('render the prompt first, and send its text'),
});
export type ResponsesRequest = z.infer<typeof responsesRequest>;

/** Members that are ignored without being listed as dropped. */
export const SILENT: ReadonlySet<string> = new Set(['include', 'service_tier', 'stream_options']);

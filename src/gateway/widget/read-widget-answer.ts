import type { JsonJob } from '../../lib/json-reader.js';
import { splitThinking } from '../../lib/thinking.js';
import { answerTextIn } from '../../lib/upstream/answer-text.js';
import { parsedAnswer } from '../translating-sink.js';

interface ChatAnswer {
  choices?: ({ message?: unknown } | null)[];
  usage?: unknown;
}

/** The parts of a whole chat answer that a visitor gets. */
interface WidgetAnswer {
  content: string;
  usage: Record<string, number> | undefined;
}

const COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const;

/** Reads the model's answer without thinking, or its refusal. */
export const READ_WIDGET_ANSWER: JsonJob<{ body: Buffer }, WidgetAnswer> = {
  name: 'widget-answer',
  run: ({ body }) => {
    const { choices, usage } = parsedAnswer<ChatAnswer>(body);
    const { text, refusal } = answerTextIn(choices?.[0]?.message);
    return { content: splitThinking(text).answer + refusal, usage: tokenCountsOf(usage) };
  },
};

/** The token counts of a usage, without anything else that a node adds. */
export function tokenCountsOf(usage: unknown): Record<string, number> | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const counts = usage as Record<string, unknown>;
  return Object.fromEntries(
    COUNTS.flatMap((name) => (typeof counts[name] === 'number' ? [[name, counts[name]]] : [])),
  );
}

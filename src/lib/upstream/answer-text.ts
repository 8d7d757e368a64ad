/** The texts of a delta or a message of a chat answer. */
export interface AnswerText {
  text: string;
  refusal: string;
  /** The model's thinking before the answer. */
  thinking: string;
}

type Fields = Record<string, unknown>;

/**
 * Reads the texts of a delta or a message. `content` is a text, a part or a list of parts. Thinking is a part or a separate member; if
 * a node sends two such members, they have the same text.
 */
export function answerTextIn(output: unknown): AnswerText {
  const found: AnswerText = { text: '', refusal: '', thinking: '' };
  if (!isObject(output)) return found;
  const { content, refusal, reasoning, reasoning_content, thinking } = output;
  if (typeof content === 'string') found.text = content;
  else for (const part of listOf(content)) addPart(found, part);
  found.refusal += textOf(refusal);
  found.thinking = textOf(reasoning) || textOf(reasoning_content) || textOf(thinking) || found.thinking;
  return found;
}

function addPart(found: AnswerText, part: unknown): void {
  if (typeof part === 'string') found.text += part;
  if (!isObject(part)) return;
  switch (part.type) {
    case undefined:
    case 'text':
    case 'output_text':
      found.text += textOf(part.text);
      break;
    case 'refusal':
      found.refusal += textOf(part.refusal);
      break;
    case 'thinking':
    case 'reasoning':
      found.thinking += thinkingIn(part);
  }
}

/** Mistral sends a list of text parts in `thinking`, Anthropic a text, Databricks a list in `summary`. */
function thinkingIn({ thinking, summary, text }: Fields): string {
  return listOf(thinking ?? summary ?? text)
    .map((piece) => (isObject(piece) ? textOf(piece.text) : textOf(piece)))
    .join('');
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

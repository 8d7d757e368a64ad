/** What a delta or a message of a chat answer says. */
export interface AnswerText {
  text: string;
  refusal: string;
  /** What the model thinks before it answers. */
  thinking: string;
}

type Fields = Record<string, unknown>;

/**
 * Reads what a delta or a message says. Its `content` is a text, a part or a list of parts. Thinking comes as a part, or as
 * a separate member; nodes that send two such members repeat themselves.
 */
export function answerTextIn(output: unknown): AnswerText {
  const said: AnswerText = { text: '', refusal: '', thinking: '' };
  if (!isObject(output)) return said;
  const { content, refusal, reasoning, reasoning_content, thinking } = output;
  if (typeof content === 'string') said.text = content;
  else for (const part of listOf(content)) addPart(said, part);
  said.refusal += textOf(refusal);
  said.thinking = textOf(reasoning) || textOf(reasoning_content) || textOf(thinking) || said.thinking;
  return said;
}

function addPart(said: AnswerText, part: unknown): void {
  if (typeof part === 'string') said.text += part;
  if (!isObject(part)) return;
  switch (part.type) {
    case undefined:
    case 'text':
    case 'output_text':
      said.text += textOf(part.text);
      break;
    case 'refusal':
      said.refusal += textOf(part.refusal);
      break;
    case 'thinking':
    case 'reasoning':
      said.thinking += thinkingIn(part);
  }
}

/** Mistral has a list of text parts in `thinking`, Anthropic a text; Databricks a list in `summary`. */
function thinkingIn({ thinking, summary, text }: Fields): string {
  return listOf(thinking ?? summary ?? text)
    .map((piece) => (isObject(piece) ? textOf(piece.text) : textOf(piece)))
    .join('');
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

import { type ChatAnswer, say } from '../widgets/edge-support.js';
import type { Form, Received } from './forms.js';

/** Who pays: by an API key, or by the key of a widget. */
export interface Payer {
  key: string;
  publicKey: string;
}

/** A way into the product. */
export interface Door {
  name: string;
  /** Whether a form can come through it. */
  takes(form: Form): boolean;
  /** Makes a call, and reads the answer as an SDK would. */
  call(url: string, payer: Payer, form: Form): Promise<Received>;
}

type Content = string | object[] | null;

interface Message {
  content?: Content;
  refusal?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
}

interface Choice {
  index: number;
  message?: Message;
  delta?: Message;
  finish_reason?: string | null;
}

interface Answer {
  choices: Choice[];
  data?: { index: number; embedding: number[] }[];
  usage?: { total_tokens: number };
  error?: { code: string };
}

const DONE = 'data: [DONE]\n\n';
export const isStream = ({ head }: Form): boolean => head.type === 'text/event-stream';
const isEmbedding = ({ ask }: Form): boolean => ask?.input !== undefined;

const post = (url: string, key: string, body: object): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const CHAT = { model: 'gateway/fast', messages: [{ role: 'user', content: 'Hi' }] };

async function plain(url: string, { key }: Payer, { ask }: Form): Promise<Received> {
  const response = await post(`${url}/v1/chat/completions`, key, { ...CHAT, ...ask });
  const { choices, error } = (await response.json()) as Answer;
  const choice = choices?.[0];
  return {
    status: response.status,
    ...(choice?.message && textsIn(choice.message)),
    finish: choice?.finish_reason ?? undefined,
    error: error?.code,
  };
}

const textsIn = ({ content, refusal, reasoning, reasoning_content }: Message) => ({
  text: typeof content === 'object' && content ? JSON.stringify(content) : (content ?? ''),
  refusal: refusal ?? '',
  reasoning: reasoning ?? reasoning_content ?? '',
});

async function streamed(url: string, { key }: Payer, { ask }: Form): Promise<Received> {
  return readStream(await post(`${url}/v1/chat/completions`, key, { ...CHAT, stream: true, ...ask }));
}

async function widget(url: string, { publicKey }: Payer, form: Form): Promise<Received> {
  if (isStream(form)) return readStream(await say(url, publicKey, { body: { stream: true } }));
  const response = await say(url, publicKey);
  const { message, error } = (await response.json()) as Partial<ChatAnswer> & Partial<Answer>;
  return {
    status: response.status,
    ...(message && textsIn(message)),
    // A widget's answer has no finish reason.
    finish: form.caller.finish,
    error: error?.code,
  };
}

async function readStream(response: Response): Promise<Received> {
  const { status } = response;
  if (status !== 200) return { status, error: ((await response.json()) as Answer).error?.code, done: false };
  const text = await response.text();
  const received: Received = { status, ...textsIn({}), done: text.endsWith(DONE) };
  for (const data of dataOf(text.replace(DONE, ''))) {
    const { choices, usage, error } = JSON.parse(data) as Answer;
    if (error) received.error = error.code;
    // As the README's loop reads it: every chunk has choices.
    else take(choices[0], received);
    if (usage) received.usage = usage.total_tokens;
  }
  return received;
}

const dataOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));

function take(choice: Choice | undefined, received: Received): void {
  if (choice?.index !== 0) return;
  const { text, refusal, reasoning } = textsIn(choice.delta ?? {});
  received.text += text;
  received.refusal += refusal;
  received.reasoning += reasoning;
  if (choice.finish_reason) received.finish = choice.finish_reason;
}

async function embeddings(url: string, { key }: Payer, { ask }: Form): Promise<Received> {
  const response = await post(`${url}/v1/embeddings`, key, { model: 'gateway/embed', ...ask });
  const { data, error } = (await response.json()) as Answer;
  return { status: response.status, vectors: data?.map(({ embedding }) => embedding), error: error?.code };
}

interface ResponsesAnswer {
  status: string;
  output: { content?: { type: string; text?: string; refusal?: string }[] }[];
  error?: { code: string };
}

async function responses(url: string, { key }: Payer, form: Form): Promise<Received> {
  const stream = isStream(form);
  const response = await post(`${url}/v1/responses`, key, { model: CHAT.model, input: 'Hi', stream });
  const { status } = response;
  if (status === 200 && stream) return readResponses(response);
  const answer = (await response.json()) as ResponsesAnswer;
  if (status !== 200) return { status, error: answer.error?.code, done: false };
  const parts = answer.output.flatMap(({ content = [] }) => content);
  const textOf = (wanted: string): string =>
    parts.map(({ type, text, refusal }) => (type === wanted ? (text ?? refusal) : '')).join('');
  return {
    status,
    text: textOf('output_text'),
    refusal: textOf('refusal'),
    reasoning: textOf('reasoning_text'),
    finish: finishOf(answer.status),
  };
}

const finishOf = (status: string): string => (status === 'completed' ? 'stop' : 'length');

async function readResponses(response: Response): Promise<Received> {
  const received: Received = { status: response.status, ...textsIn({}), done: false };
  for (const data of dataOf(await response.text())) {
    const { type, delta, code } = JSON.parse(data) as { type: string; delta?: string; code?: string };
    if (type === 'response.output_text.delta') received.text += delta!;
    else if (type === 'response.refusal.delta') received.refusal += delta!;
    else if (type === 'response.reasoning_text.delta') received.reasoning += delta!;
    else if (type === 'error') received.error = code!;
    else if (type === 'response.completed' || type === 'response.incomplete')
      Object.assign(received, { finish: finishOf(type.replace('response.', '')), done: true });
  }
  return received;
}

export const isOfChat = ({ ask }: Form): boolean => ask === undefined;

export const DOORS: readonly Door[] = [
  { name: 'plain', takes: (form) => !isStream(form) && !isEmbedding(form), call: plain },
  { name: 'streamed', takes: isStream, call: streamed },
  { name: 'widget', takes: isOfChat, call: widget },
  { name: 'responses', takes: isOfChat, call: responses },
  { name: 'embeddings', takes: isEmbedding, call: embeddings },
];

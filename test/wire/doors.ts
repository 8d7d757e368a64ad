import type { Form, Received } from './forms.js';

/** A way into the product. */
export interface Door {
  name: string;
  /** Whether a form can come through it. */
  takes(form: Form): boolean;
  /** Makes a call, and reads the answer as an SDK would. */
  call(url: string, key: string, form: Form): Promise<Received>;
}

interface Choice {
  index: number;
  message?: { content: string };
  delta?: { content?: string };
  finish_reason?: string | null;
}

interface Answer {
  choices: Choice[];
  data?: { index: number; embedding: number[] }[];
  usage?: { total_tokens: number };
  error?: { code: string };
}

const DONE = 'data: [DONE]\n\n';
const isStream = ({ head }: Form): boolean => head.type === 'text/event-stream';
const isEmbedding = ({ ask }: Form): boolean => ask?.input !== undefined;

const post = (url: string, key: string, body: object): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const CHAT = { model: 'gateway/fast', messages: [{ role: 'user', content: 'Hi' }] };

async function plain(url: string, key: string, { ask }: Form): Promise<Received> {
  const response = await post(`${url}/v1/chat/completions`, key, { ...CHAT, ...ask });
  const { choices, error } = (await response.json()) as Answer;
  const choice = choices?.[0];
  return {
    status: response.status,
    text: choice?.message?.content,
    finish: choice?.finish_reason ?? undefined,
    error: error?.code,
  };
}

async function streamed(url: string, key: string, { ask }: Form): Promise<Received> {
  const response = await post(`${url}/v1/chat/completions`, key, { ...CHAT, stream: true, ...ask });
  const { status } = response;
  if (status !== 200) return { status, error: ((await response.json()) as Answer).error?.code, done: false };
  const text = await response.text();
  const received: Received = { status, text: '', done: text.endsWith(DONE) };
  const events = text.replace(DONE, '').split('\n\n');
  for (const event of events.filter((one) => one.startsWith('data: '))) {
    const { choices, usage, error } = JSON.parse(event.slice('data: '.length)) as Answer;
    if (error) received.error = error.code;
    if (usage) received.usage = usage.total_tokens;
    // As the README's loop reads it: every chunk has choices.
    else if (!error) take(choices[0], received);
  }
  return received;
}

function take(choice: Choice | undefined, received: Received): void {
  if (choice?.index !== 0) return;
  received.text += choice.delta?.content ?? '';
  if (choice.finish_reason) received.finish = choice.finish_reason;
}

async function embeddings(url: string, key: string, { ask }: Form): Promise<Received> {
  const response = await post(`${url}/v1/embeddings`, key, { model: 'gateway/embed', ...ask });
  const { data, error } = (await response.json()) as Answer;
  return { status: response.status, vectors: data?.map(({ embedding }) => embedding), error: error?.code };
}

export const DOORS: readonly Door[] = [
  { name: 'plain', takes: (form) => !isStream(form) && !isEmbedding(form), call: plain },
  { name: 'streamed', takes: isStream, call: streamed },
  { name: 'embeddings', takes: isEmbedding, call: embeddings },
];

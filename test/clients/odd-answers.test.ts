import { readFileSync } from 'node:fs';
import { embed, generateText, streamText } from 'ai';
import { FORMS } from '../wire/forms.js';
import { providerOf } from './ai-support.js';
import { thrownBy, useClients } from './support.js';

const suite = useClients();

/** Also for the SDKs of the conformance run: docs/conformance.md says why these forms. */
const ODDEST = Object.entries(
  JSON.parse(readFileSync('conformance/lib/oddest-forms.json', 'utf8')) as Record<string, keyof Calls>,
);
const MODEL = 'gateway/qwen-pro';

/** Calls that resolve to the text of the answer, or its vector. */
interface Calls {
  chat(content: string): Promise<string>;
  stream(content: string): Promise<string>;
  embed(input: string): Promise<number[]>;
}

const openai = (): Calls => {
  const client = suite.openai();
  const ask = (content: string) => ({ model: MODEL, messages: [{ role: 'user' as const, content }] });
  return {
    chat: async (content) =>
      (await client.chat.completions.create(ask(content))).choices[0]!.message.content!,
    async stream(content) {
      let text = '';
      for await (const { choices } of await client.chat.completions.create({ ...ask(content), stream: true }))
        text += choices[0]!.delta.content ?? '';
      return text;
    },
    embed: async (input) =>
      Array.from((await client.embeddings.create({ model: 'gateway/embed', input })).data[0]!.embedding),
  };
};

const ai = (): Calls => {
  const provider = providerOf(suite);
  const once = { model: provider(MODEL), maxRetries: 0 };
  return {
    chat: async (prompt) => (await generateText({ ...once, prompt })).text,
    async stream(prompt) {
      let text = '';
      for await (const part of streamText({ ...once, prompt, onError: () => undefined }).stream) {
        if (part.type === 'error') throw part.error;
        if (part.type === 'text-delta') text += part.text;
      }
      return text;
    },
    embed: async (value) =>
      (await embed({ model: provider.embeddingModel('gateway/embed'), value, maxRetries: 0 })).embedding,
  };
};

describe.each([
  ['openai', openai],
  ['ai', ai],
] as const)('%s: the odd answer of a node', (_sdk, calls) => {
  test.each(ODDEST)(
    '%s arrives whole, or as an error that is no breakdown of the SDK',
    async (name, kind) => {
      const { caller } = FORMS.find((form) => form.name === name)!;
      const answer = calls()[kind](`[[sim form=${name}]] Hello`);
      if (caller.error === undefined) {
        expect(await answer).toEqual(caller.text ?? caller.vectors![0]);
        return;
      }
      // Of an SDK that reads what isn't there, or JSON that isn't JSON.
      expect(['TypeError', 'SyntaxError']).not.toContain(((await thrownBy(() => answer)) as Error).name);
    },
  );
});

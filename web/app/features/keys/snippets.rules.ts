/** What a snippet is made of. */
export interface SnippetFacts {
  /** Public address, without a slash at the end. */
  baseUrl: string;
  model: string;
  /** The secret where it is known: right after its making. */
  key?: string | undefined;
}

/** Where a snippet takes the key from when it isn't known. */
export const KEY_VARIABLE = 'GATEWAY_API_KEY';

export const LANGUAGES = [
  { value: 'curl', label: 'curl' },
  { value: 'node', label: 'Node' },
  { value: 'python', label: 'Python' },
] as const;
export type Language = (typeof LANGUAGES)[number]['value'];

const PROMPT = 'Say hello in five words.';

const curl = ({ baseUrl, model, key }: SnippetFacts): string => `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer ${key ?? `$${KEY_VARIABLE}`}" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${model}",
    "messages": [{ "role": "user", "content": "${PROMPT}" }]
  }'`;

const node = ({ baseUrl, model, key }: SnippetFacts): string => `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: ${key ? `'${key}'` : `process.env.${KEY_VARIABLE}`},
});
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: '${PROMPT}' }],
});
console.log(answer.choices[0].message.content);`;

const python = ({ baseUrl, model, key }: SnippetFacts): string => `# pip install openai
${key ? '' : 'import os\n'}from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key=${key ? `"${key}"` : `os.environ["${KEY_VARIABLE}"]`},
)
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "${PROMPT}"}],
)
print(answer.choices[0].message.content)`;

const SNIPPETS: Record<Language, (facts: SnippetFacts) => string> = { curl, node, python };

/** A first call as it is pasted into a terminal or a file. */
export const snippet = (language: Language, facts: SnippetFacts): string => SNIPPETS[language](facts);

/** The model for a first call: a featured one of the plan that chats. */
export function snippetModel(
  models: readonly { modelPublicName: string; family: string; isFeatured: boolean }[],
  allowed: readonly string[],
): string | undefined {
  const usable = models.filter(
    ({ modelPublicName, family }) => family !== 'embedding' && allowed.includes(modelPublicName),
  );
  return (usable.find(({ isFeatured }) => isFeatured) ?? usable[0])?.modelPublicName;
}

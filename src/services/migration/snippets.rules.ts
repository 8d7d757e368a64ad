import type { CodeSnippetsOutput } from './migration.outputs.js';

export interface SnippetTarget {
  /** Public URL, without a trailing slash. */
  baseUrl: string;
  model: string;
  /** The secret if it is known, which is only right after the key was created. */
  key?: string | undefined;
}

/** The environment variable that snippets read when the key isn't known. */
export const KEY_VARIABLE = 'GATEWAY_API_KEY';

const PROMPT = 'Say hello in five words.';
const TEXT = 'The food was delicious.';

/** A first chat call to paste into a terminal or a file. */
export const chatSnippets = ({ baseUrl, model, key }: SnippetTarget): CodeSnippetsOutput => ({
  python: `# pip install openai
${key ? '' : 'import os\n'}from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key=${key ? `"${key}"` : `os.environ["${KEY_VARIABLE}"]`},
)
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "${PROMPT}"}],
)
print(answer.choices[0].message.content)
`,
  node: `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: ${key ? `'${key}'` : `process.env.${KEY_VARIABLE}`},
});
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: '${PROMPT}' }],
});
console.log(answer.choices[0].message.content);
`,
  curl: `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer ${key ?? `$${KEY_VARIABLE}`}" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${model}",
    "messages": [{ "role": "user", "content": "${PROMPT}" }]
  }'
`,
});

const embeddings = ({ baseUrl, model }: SnippetTarget): CodeSnippetsOutput => ({
  python: `# pip install openai
import os
from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key=os.environ["GATEWAY_API_KEY"],
)
answer = client.embeddings.create(model="${model}", input="${TEXT}")
print(len(answer.data[0].embedding))
`,
  node: `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: process.env.GATEWAY_API_KEY,
});
const answer = await client.embeddings.create({ model: '${model}', input: '${TEXT}' });
console.log(answer.data[0].embedding.length);
`,
  curl: `curl ${baseUrl}/v1/embeddings \\
  -H "Authorization: Bearer $GATEWAY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{ "model": "${model}", "input": "${TEXT}" }'
`,
});

/** A first call to a chat or embedding model. */
export const codeSnippets = (target: SnippetTarget, embedding: boolean): CodeSnippetsOutput =>
  embedding ? embeddings(target) : chatSnippets(target);

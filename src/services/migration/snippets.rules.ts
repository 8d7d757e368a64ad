import type { CodeSnippetsOutput } from './migration.outputs.js';

interface Target {
  /** Public address, without a slash at the end. */
  baseUrl: string;
  model: string;
}

const PROMPT = 'Say hello in five words.';
const TEXT = 'The food was delicious.';

const chat = ({ baseUrl, model }: Target): CodeSnippetsOutput => ({
  python: `# pip install openai
import os
from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key=os.environ["GATEWAY_API_KEY"],
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
  apiKey: process.env.GATEWAY_API_KEY,
});
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: '${PROMPT}' }],
});
console.log(answer.choices[0].message.content);
`,
  curl: `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer $GATEWAY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${model}",
    "messages": [{ "role": "user", "content": "${PROMPT}" }]
  }'
`,
});

const embeddings = ({ baseUrl, model }: Target): CodeSnippetsOutput => ({
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

/** A first call to a model, ready to be pasted. The key comes from the environment. */
export const codeSnippets = (target: Target, embedding: boolean): CodeSnippetsOutput =>
  embedding ? embeddings(target) : chat(target);

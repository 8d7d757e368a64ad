/** The parts of a snippet. */
export interface PromptSnippetFacts {
  /** Public address, without a slash at the end. */
  baseUrl: string;
  slug: string;
  /** Names of the placeholders. */
  names: readonly string[];
  model: string;
}

export const PROMPT_LANGUAGES = [
  { value: 'curl', label: 'curl' },
  { value: 'node', label: 'Node' },
  { value: 'python', label: 'Python' },
] as const;
export type PromptLanguage = (typeof PROMPT_LANGUAGES)[number]['value'];

const bodyOf = (names: readonly string[]): string =>
  JSON.stringify({ variables: Object.fromEntries(names.map((name) => [name, '…'])) });

const curl = ({
  baseUrl,
  slug,
  names,
  model,
}: PromptSnippetFacts): string => `rendered=$(curl -s ${baseUrl}/api/prompts/${slug}/render \\
  -H "Authorization: Bearer $SESSION_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${bodyOf(names)}')

curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer $GATEWAY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -H "X-Gateway-Prompt-Version: $(jq -r .prompt_version_id <<< "$rendered")" \\
  -d "$(jq '{ model: "${model}", messages: [{ role: "user", content: .rendered_content }] }' <<< "$rendered")"`;

const node = ({ baseUrl, slug, names, model }: PromptSnippetFacts): string => `// npm install openai
import OpenAI from 'openai';

const answer = await fetch('${baseUrl}/api/prompts/${slug}/render', {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.SESSION_TOKEN}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify(${bodyOf(names)}),
});
const { rendered_content, prompt_version_id } = await answer.json();

const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: process.env.GATEWAY_API_KEY });
const chat = await client.chat.completions.create(
  { model: '${model}', messages: [{ role: 'user', content: rendered_content }] },
  { headers: { 'X-Gateway-Prompt-Version': prompt_version_id } },
);
console.log(chat.choices[0].message.content);`;

const python = ({ baseUrl, slug, names, model }: PromptSnippetFacts): string => `# pip install openai
import json
import os
import urllib.request

from openai import OpenAI

request = urllib.request.Request(
    "${baseUrl}/api/prompts/${slug}/render",
    data=json.dumps(${bodyOf(names)}).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['SESSION_TOKEN']}",
        "Content-Type": "application/json",
    },
)
rendered = json.load(urllib.request.urlopen(request))

client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["GATEWAY_API_KEY"])
chat = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": rendered["rendered_content"]}],
    extra_headers={"X-Gateway-Prompt-Version": rendered["prompt_version_id"]},
)
print(chat.choices[0].message.content)`;

const SNIPPETS: Record<PromptLanguage, (facts: PromptSnippetFacts) => string> = { curl, node, python };

/** Renders a prompt and sends it, to paste into a terminal or a file. */
export const promptSnippet = (language: PromptLanguage, facts: PromptSnippetFacts): string =>
  SNIPPETS[language](facts);

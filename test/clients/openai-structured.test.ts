import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { FAST, useClients } from './support.js';

const suite = useClients();
const invoice = z.object({
  number: z.string(),
  total: z.number().int().min(1).max(500),
  paid: z.boolean(),
  lines: z.array(z.object({ text: z.string(), kind: z.enum(['goods', 'service']) })).min(1),
});
const messages = [{ role: 'user' as const, content: `${FAST} Read this invoice` }];

describe('openai: structured output', () => {
  test('parse returns an object that fits the zod schema', async () => {
    const answer = await suite.openai().chat.completions.parse({
      model: 'gateway/qwen-pro',
      messages,
      response_format: zodResponseFormat(invoice, 'invoice'),
    });
    const { parsed, refusal } = answer.choices[0]!.message;
    expect(refusal ?? null).toBeNull();
    expect(invoice.parse(parsed)).toEqual(parsed);
  });

  test('the stream helper parses too', async () => {
    const runner = suite.openai().chat.completions.stream({
      model: 'gateway/qwen-pro',
      messages,
      response_format: zodResponseFormat(invoice, 'invoice'),
    });
    const { parsed } = (await runner.finalChatCompletion()).choices[0]!.message;
    expect(invoice.parse(parsed)).toEqual(parsed);
  });

  test('a plain JSON schema and JSON mode reach the node', async () => {
    const client = suite.openai();
    const schema = { type: 'object', properties: { ok: { const: 'yes' } }, required: ['ok'] };
    const strict = await client.chat.completions.create({
      model: 'gateway/fast',
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'ok', schema } },
    });
    expect(JSON.parse(strict.choices[0]!.message.content!)).toEqual({ ok: 'yes' });
    const loose = await client.chat.completions.create({
      model: 'gateway/fast',
      messages,
      response_format: { type: 'json_object' },
    });
    expect(JSON.parse(loose.choices[0]!.message.content!)).toHaveProperty('simulated', true);
  });
});

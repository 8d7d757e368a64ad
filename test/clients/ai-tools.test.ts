import { generateText, isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';
import { providerOf } from './ai-support.js';
import { FAST, useClients, watchedFetch } from './support.js';

const suite = useClients();

function weatherTool() {
  const asked: { city: string }[] = [];
  const weather = tool({
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string() }),
    execute: (input) => {
      asked.push(input);
      return { report: `Sunny in ${input.city}` };
    },
  });
  return { asked, tools: { weather } };
}

/** Two tools, and the names of those that ran. */
function twoTools() {
  const ran: string[] = [];
  const toolOf = (name: string) =>
    tool({
      description: `The ${name}.`,
      inputSchema: z.object({ place: z.string() }),
      execute: ({ place }) => {
        ran.push(name);
        return `known in ${place}`;
      },
    });
  return { ran, tools: { weather: toolOf('weather'), clock: toolOf('clock') } };
}

describe('ai: tools', () => {
  test.each([
    [
      'generateText',
      async (settings: Parameters<typeof generateText>[0]) => (await generateText(settings)).steps,
    ],
    [
      'streamText',
      async (settings: Parameters<typeof generateText>[0]) => {
        const result = streamText(settings);
        await result.consumeStream();
        return result.steps;
      },
    ],
  ])('%s runs several tools in one step', async (_name, stepsOf) => {
    const { ran, tools } = twoTools();
    const steps = await stepsOf({
      model: providerOf(suite)('gateway/fast'),
      tools,
      stopWhen: isStepCount(3),
      prompt: `${FAST} Use weather and clock`,
    });
    expect(ran.toSorted()).toEqual(['clock', 'weather']);
    expect(steps.map(({ toolCalls }) => toolCalls.length)).toEqual([2, 0]);
    expect(steps[1]!.text).toContain('known in');
  });

  test('the loop of generateText calls the tool and replays its result', async () => {
    const { asked, tools } = weatherTool();
    const { fetch, calls } = watchedFetch();
    const before = await suite.balance();
    const result = await generateText({
      model: providerOf(suite, undefined, fetch)('gateway/fast'),
      tools,
      stopWhen: isStepCount(3),
      prompt: `${FAST} Weather in Porto?`,
    });
    expect(asked).toHaveLength(1);
    expect(result.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(result.text).toContain(`Sunny in ${asked[0]!.city}`);
    const replayed = calls[1]!.body.messages as { role: string; content: unknown }[];
    expect(replayed.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(replayed[1]!.content).toBeNull();
    const spent = result.steps.map(({ usage }) => ({
      model: 'gateway/fast',
      input: usage.inputTokens!,
      output: usage.outputTokens!,
    }));
    expect(before - (await suite.balance())).toBe(await suite.priceOf(spent));
  });

  test('the loop of streamText calls the tool and replays its result', async () => {
    const { asked, tools } = weatherTool();
    const result = streamText({
      model: providerOf(suite)('gateway/fast'),
      tools,
      stopWhen: isStepCount(3),
      prompt: `${FAST} Weather in Faro?`,
    });
    await result.consumeStream();
    expect(asked).toHaveLength(1);
    const steps = await result.steps;
    expect(steps).toHaveLength(2);
    expect(steps[1]!.text).toContain(`Sunny in ${asked[0]!.city}`);
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { until } from './until.mjs';

const WRITTEN_MS = 700;

/** What the account was billed for, as its owner sees it. */
export function ledgerOf({ api }) {
  const events = async () => (await api('GET', '/api/usage?limit=100')).items;
  return {
    /** The calls so far, once no further one is being written. */
    mark: () =>
      until('the end of earlier calls', async () => {
        const before = await events();
        await delay(WRITTEN_MS);
        const after = await events();
        return before[0]?.id === after[0]?.id && new Set(after.map(({ id }) => id));
      }),
    /** The calls since, once there are `count`. */
    since: (mark, count) =>
      until(`the bill of ${count} calls`, async () => {
        const added = (await events()).filter(({ id }) => !mark.has(id));
        if (added.length < count) return undefined;
        return added.map(({ model_public_name: model, input_tokens: input, output_tokens: output }) => ({
          model,
          input,
          output,
        }));
      }),
  };
}

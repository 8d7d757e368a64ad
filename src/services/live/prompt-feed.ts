import type { ServiceContext } from '../../context.js';
import { promptRevisions } from '../prompts/prompts.store.js';
import { createAccountStreams } from './account-streams.js';
import type { Signals } from './signals.js';

/** A prompt that was made, changed or deleted. */
export interface PromptNews {
  promptId: string;
  deleted: boolean;
}

export interface PromptFeed {
  /**
   * Each of the viewer's prompts that changes from now on. Changes in quick succession may come as one event:
   * subscribers see the prompt as it is when it is read.
   */
  promptChanged(context: ServiceContext): Promise<AsyncIterableIterator<PromptNews>>;
}

/** Compares the revisions of an account's few prompts with the last ones sent. */
export function createPromptFeed({ signals }: { signals: Signals }): PromptFeed {
  const follow = createAccountStreams<ReadonlyMap<string, number>, PromptNews>({
    onSignal: signals.onPrompts,
    readsAtOnce: 1,
    sourceOf: ({ em }, accountId) => ({
      begin: () => promptRevisions(em, accountId),
      async advance(from) {
        const to = await promptRevisions(em, accountId);
        return { rows: differences(from, to), to };
      },
      isWhole: () => true,
    }),
  });
  return { promptChanged: follow };
}

function differences(from: ReadonlyMap<string, number>, to: ReadonlyMap<string, number>): PromptNews[] {
  const changed = [...to].filter(([id, revision]) => from.get(id) !== revision);
  const gone = [...from.keys()].filter((id) => !to.has(id));
  return [
    ...changed.map(([promptId]) => ({ promptId, deleted: false })),
    ...gone.map((promptId) => ({ promptId, deleted: true })),
  ];
}

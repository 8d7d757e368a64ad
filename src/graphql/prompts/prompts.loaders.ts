import DataLoader from 'dataloader';
import type { PromptOutput } from '../../services/prompts/prompts.outputs.js';
import { type Camel, camelCased } from '../case.js';
import type { LoaderContext } from '../loader-context.js';

/** Prompts of the viewer by id; null for one that is gone. */
export function promptsLoaders({ services, service }: LoaderContext) {
  return {
    prompts: new DataLoader<string, Camel<PromptOutput> | null>(async (ids) => {
      const found = await services.prompts.findMany(service, ids);
      const byId = new Map(found.map((prompt) => [prompt.id, camelCased(prompt)]));
      return ids.map((id) => byId.get(id) ?? null);
    }),
  };
}

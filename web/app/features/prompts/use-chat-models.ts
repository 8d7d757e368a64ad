import { ChatModelsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';

export interface ChatModel {
  /** Public name. */
  name: string;
  /** Whether the account's plan includes the model. */
  isAllowed: boolean;
}

/** Every chat model, those of the account's plan first; empty until they are loaded. */
export function useChatModels() {
  const { data, error, refresh } = usePageQuery({ query: ChatModelsDocument, variables: {} });
  const allowed = new Set(data?.viewer?.plan.allowedModels);
  const models: ChatModel[] = (data?.models ?? [])
    .filter(({ family }) => family !== 'embedding')
    .map(({ modelPublicName: name }) => ({ name, isAllowed: allowed.has(name) }))
    .toSorted((a, b) => Number(b.isAllowed) - Number(a.isAllowed));
  return { models, error: data ? null : error, refresh };
}

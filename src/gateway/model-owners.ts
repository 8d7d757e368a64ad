import type { Dispatcher } from 'undici';
import { z } from 'zod';

/** Who answers for a model: `simulator` where the model proxy says so, that nobody takes it for a model. */
export interface ModelOwners {
  ownerOf(publicName: string): string;
  stop(): void;
}

const REFRESH_MS = 30_000;
const TIMEOUT_MS = 5_000;
const DEFAULT_OWNER = 'gateway';
const answerSchema = z.object({
  data: z.array(z.object({ id: z.string(), owned_by: z.string().optional() })),
});

/** Asks the model proxy now and then; what it doesn't say belongs to the gateway. */
export async function createModelOwners(
  upstream: Dispatcher,
  basePath: string,
  masterKey: string,
): Promise<ModelOwners> {
  let owners = new Map<string, string>();
  const refresh = async (): Promise<void> => {
    try {
      const answer = await upstream.request({
        method: 'GET',
        path: `${basePath}/v1/models`,
        headers: { authorization: `Bearer ${masterKey}` },
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      });
      const { data } = answerSchema.parse(await answer.body.json());
      owners = new Map(
        data.map((model) => [model.id, model.owned_by === 'simulator' ? 'simulator' : DEFAULT_OWNER]),
      );
    } catch {
      // The proxy is away: what was known stays.
    }
  };
  await refresh();
  const timer = setInterval(() => void refresh(), REFRESH_MS);
  timer.unref();
  return { ownerOf: (name) => owners.get(name) ?? DEFAULT_OWNER, stop: () => clearInterval(timer) };
}

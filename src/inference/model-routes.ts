import { Pool } from 'undici';
import { z } from 'zod';

/** How the upstream routes the models. */
export interface ModelRoutes {
  /** Owner of a model: `simulator` if the simulator answers its calls. */
  ownerOf(publicName: string): string;
  /** Public names of the models that the simulator answers. */
  simulated(): string[];
  /** The model's fallbacks; undefined if the model proxy doesn't report them (an external LiteLLM). */
  fallbacksOf(publicName: string): readonly string[] | undefined;
  /** Increases whenever the fallbacks may have changed. */
  version(): number;
}

/** Routes that are polled from a model proxy. */
export interface PolledRoutes extends ModelRoutes {
  /** Settles once the model proxy has answered, or can't be reached. Never rejects. */
  ready: Promise<unknown>;
  stop(): Promise<void>;
}

const REFRESH_MS = 30_000;
/** Until the proxy has answered once, since it may start at the same time as this process. */
const FIRST_RETRY_MS = 2_000;
const TIMEOUT_MS = 5_000;
const DEFAULT_OWNER = 'gateway';
const modelsSchema = z.object({
  data: z.array(z.object({ id: z.string(), owned_by: z.string().optional() })),
});
const infoSchema = z.object({
  data: z.array(z.object({ model_name: z.string(), fallbacks: z.array(z.string()).optional() })),
});

/** Polls the model proxy. A model whose owner it doesn't report belongs to the gateway. */
export function createModelRoutes(origin: string, basePath: string, masterKey: string): PolledRoutes {
  const upstream = new Pool(origin);
  let owners = new Map<string, string>();
  let fallbacks = new Map<string, readonly string[]>();
  let shown = '';
  let version = 0;
  let answered = false;
  const ask = async (path: string): Promise<unknown> => {
    const answer = await upstream.request({
      method: 'GET',
      path: basePath + path,
      headers: { authorization: `Bearer ${masterKey}` },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    if (answer.statusCode === 200) return answer.body.json();
    await answer.body.dump();
    return undefined;
  };
  const refreshOwners = async (): Promise<void> => {
    const { data } = modelsSchema.parse(await ask('/v1/models'));
    owners = new Map(
      data.map((model) => [model.id, model.owned_by === 'simulator' ? 'simulator' : DEFAULT_OWNER]),
    );
    answered = true;
  };
  const refreshFallbacks = async (): Promise<void> => {
    const { data } = infoSchema.parse((await ask('/v1/model/info')) ?? { data: [] });
    const reported = data.flatMap((model) =>
      model.fallbacks ? [[model.model_name, model.fallbacks] as const] : [],
    );
    const text = JSON.stringify(reported);
    if (text === shown) return;
    shown = text;
    fallbacks = new Map(reported);
    version++;
  };
  // If the proxy is away, or of another kind, the routes stay as they are.
  const refresh = () => Promise.allSettled([refreshOwners(), refreshFallbacks()]);
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const schedule = (): void => {
    if (stopped) return;
    timer = setTimeout(() => void refresh().then(schedule), answered ? REFRESH_MS : FIRST_RETRY_MS).unref();
  };
  return {
    ready: refresh().then(schedule),
    ownerOf: (name) => owners.get(name) ?? DEFAULT_OWNER,
    simulated: () => [...owners].flatMap(([name, owner]) => (owner === 'simulator' ? [name] : [])),
    fallbacksOf: (name) => fallbacks.get(name),
    version: () => version,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await upstream.destroy();
    },
  };
}

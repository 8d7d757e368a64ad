import { Pool } from 'undici';
import { z } from 'zod';

/** What is known of the models that can be called. */
export interface ModelRoutes {
  /** Owner of a model. It is `simulator` if the simulator answers the model's calls. */
  ownerOf(publicName: string): string;
  /** Public names of the models that the simulator answers. */
  simulated(): string[];
  /** The models that may stand in for one; undefined: the model proxy doesn't tell (an external LiteLLM). */
  fallbacksOf(publicName: string): readonly string[] | undefined;
  /** Rises whenever that may have changed. */
  version(): number;
}

/** The same, asked of a model proxy now and then. */
export interface AskedRoutes extends ModelRoutes {
  /** Settles once the model proxy has answered, or can't be reached. Never rejects. */
  ready: Promise<unknown>;
  stop(): Promise<void>;
}

const REFRESH_MS = 30_000;
/** Until the proxy has answered once, as when it starts beside us. */
const FIRST_RETRY_MS = 2_000;
const TIMEOUT_MS = 5_000;
const DEFAULT_OWNER = 'gateway';
const modelsSchema = z.object({
  data: z.array(z.object({ id: z.string(), owned_by: z.string().optional() })),
});
const infoSchema = z.object({
  data: z.array(z.object({ model_name: z.string(), fallbacks: z.array(z.string()).optional() })),
});

/** Asks the model proxy now and then; what it doesn't say belongs to the gateway. */
export function createModelRoutes(origin: string, basePath: string, masterKey: string): AskedRoutes {
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
    const told = data.flatMap((model) =>
      model.fallbacks ? [[model.model_name, model.fallbacks] as const] : [],
    );
    const text = JSON.stringify(told);
    if (text === shown) return;
    shown = text;
    fallbacks = new Map(told);
    version++;
  };
  // The proxy is away, or is another kind: what was known stays.
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

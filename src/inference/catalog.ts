import type { Pool } from 'pg';
import type { Logger } from '../lib/logger.js';
import { type Money, pricePerToken } from '../lib/money.js';
import type { DatabaseContact } from './database-contact.js';

export interface CatalogModel {
  publicName: string;
  kind: 'chat' | 'embedding';
  contextWindow: number;
  /** 1e-12 dollars per token. */
  priceIn: Money;
  priceOut: Money;
}

/** The table of models in memory, with the prices at which calls are charged. */
export interface Catalog {
  get(publicName: string): CatalogModel | undefined;
  all(): CatalogModel[];
  /** The public names of all models. */
  readonly names: ReadonlySet<string>;
  /** Reads the table again. If that fails, the models stay as they are. */
  reload(): Promise<void>;
  stop(): void;
}

/** The table is read again after this time even without a notification. */
const REFRESH_MS = 5_000;

async function readModels(pool: Pool): Promise<Map<string, CatalogModel>> {
  const result = await pool.query<{
    public_name: string;
    kind: 'chat' | 'embedding';
    context_window: number;
    input: string;
    output: string;
  }>(
    `select public_name, kind, context_window, input_price_per_million_usd::text as input,
       output_price_per_million_usd::text as output
     from models order by position`,
  );
  return new Map(
    result.rows.map((row) => [
      row.public_name,
      {
        publicName: row.public_name,
        kind: row.kind,
        contextWindow: row.context_window,
        priceIn: pricePerToken(row.input),
        priceOut: pricePerToken(row.output),
      },
    ]),
  );
}

/** Loads the catalog and keeps it up to date. */
export async function createCatalog(pool: Pool, log: Logger, contact: DatabaseContact): Promise<Catalog> {
  let models = await readModels(pool);
  let names = new Set(models.keys());
  const reload = async (): Promise<void> => {
    try {
      models = await readModels(pool);
      names = new Set(models.keys());
      contact.heard();
    } catch (error) {
      log.debug({ err: error }, 'failed to reload the model table');
    }
  };
  const timer = setInterval(() => void reload(), REFRESH_MS);
  timer.unref();
  return {
    get: (publicName) => models.get(publicName),
    all: () => [...models.values()],
    get names() {
      return names;
    },
    reload,
    stop: () => clearInterval(timer),
  };
}

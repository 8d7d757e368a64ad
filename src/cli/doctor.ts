import type { MikroORM } from '@mikro-orm/postgresql';
import { request } from 'undici';
import { z } from 'zod';
import { type Config, loadConfigOrExit } from '../config.js';
import { formatMoney } from '../lib/money.js';
import { redisFault } from '../lib/open-redis.js';
import { masterKeyFault, RoutingFileError, readRouting, simulatorFault } from '../router/config-file.js';
import { costPerToken } from '../router/config-schema.js';
import { comparePrices, type PricedDeployment, unservedFault } from '../router/price-check.js';
import { withDatabase } from './database.js';

/**
 * `npm run doctor`: reads the routing as the router would and compares its prices with the model table's. With
 * `UPSTREAM_URL` it asks the model proxy there, unless called with `--file`. Exit code 1 if something is wrong, 2 if it
 * can't be checked. A Redis that isn't fit for limits is a warning.
 */
const config = loadConfigOrExit('cli');
const TIMEOUT_MS = 10_000;
const PRICE_WIDTH = 12;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The deployments of the routing file, and the faults that would stop a start. */
function fromFile(config: Config) {
  try {
    const { routing, name } = readRouting(config);
    const faults = [simulatorFault(routing, config), masterKeyFault(routing, name, config)];
    return { deployments: routing.deployments, faults: faults.filter((fault) => fault !== undefined) };
  } catch (error) {
    if (!(error instanceof RoutingFileError)) throw error;
    return { deployments: [], faults: error.lines };
  }
}

const costs = z.looseObject({
  input_cost_per_token: z.number().nullish(),
  output_cost_per_token: z.number().nullish(),
});
const modelInfo = z.object({
  data: z.array(
    z.looseObject({
      model_name: z.string(),
      litellm_params: costs.nullish(),
      model_info: costs.extend({ id: z.string().nullish() }).nullish(),
    }),
  ),
});

/** The same from the model proxy at `UPSTREAM_URL`. @throws Error if it doesn't list its models */
async function fromUpstream(upstreamUrl: string, { upstreamMasterKey }: Config) {
  const answer = await request(`${upstreamUrl}/v1/model/info`, {
    headers: { authorization: `Bearer ${upstreamMasterKey}` },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  }).catch((error: unknown) => {
    throw new Error(
      `UPSTREAM_URL can't be reached (${(error as { code?: string }).code ?? 'unknown cause'})`,
    );
  });
  const body: unknown = await answer.body.json().catch(() => undefined);
  const read = modelInfo.safeParse(body);
  if (answer.statusCode !== 200 || !read.success) {
    throw new Error(`the model proxy at UPSTREAM_URL answered ${answer.statusCode} and lists no models`);
  }
  const faults: string[] = [];
  const deployments = read.data.data.flatMap(({ model_name: group, model_info: info, litellm_params }) => {
    const id = info?.id ?? 'without an id';
    const input = litellm_params?.input_cost_per_token ?? info?.input_cost_per_token;
    const output = litellm_params?.output_cost_per_token ?? info?.output_cost_per_token;
    try {
      // JavaScript's shortest text of the number is the price as it was written.
      const [inputCost, outputCost] = [input, output].map((cost) => costPerToken(String(cost)));
      return [{ id, group, inputCost: inputCost!, outputCost: outputCost! }];
    } catch {
      faults.push(`deployment ${id}: ${group} has no price per token`);
      return [];
    }
  });
  return { deployments, faults };
}

async function examine(
  orm: MikroORM,
  { deployments, faults }: { deployments: PricedDeployment[]; faults: string[] },
): Promise<number> {
  const { findings, unserved } = await comparePrices(orm, deployments);
  for (const { deployment, fault } of findings) {
    const { id, group, inputCost, outputCost } = deployment;
    const shown = [inputCost, outputCost].map((cost) =>
      `$${formatMoney(cost * 1_000_000n)}`.padEnd(PRICE_WIDTH),
    );
    say(`${fault ? 'wrong' : 'ok   '}  ${shown.join('')}${group}  ${id}`);
  }
  const all = [
    ...faults,
    ...findings.flatMap(({ fault }) => fault ?? []),
    // An invalid file doesn't show which models are served.
    ...(deployments.length > 0 ? unserved.map(unservedFault) : []),
  ];
  for (const fault of all) say(`fault  ${fault}`);
  say(`${deployments.length} deployments checked, ${all.length} faults`);
  return all.length > 0 ? 1 : 0;
}

try {
  const { upstreamUrl } = config;
  const byFile = upstreamUrl === null || process.argv.includes('--file');
  const routing = byFile ? fromFile(config) : await fromUpstream(upstreamUrl, config);
  process.exitCode = await withDatabase(config, 'doctor', (orm) => examine(orm, routing));
  const warning = config.redisUrl ? await redisFault(config.redisUrl) : undefined;
  if (warning) say(`warning  ${warning}`);
} catch (error) {
  process.stderr.write(`doctor: ${(error as Error).message}\n`);
  process.exitCode = 2;
}

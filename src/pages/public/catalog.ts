import type { ServiceContext } from '../../context.js';
import type { Clock } from '../../lib/clock.js';
import { asOwnWork } from '../../lib/work-owner.js';
import type { Services } from '../../services.js';
import type { PublicCatalog } from './prices.js';

const CACHE_MS = 5 * 60_000;

/** Models and plans for pages, read every five minutes at most: they change with a release. */
export function createPublicCatalog(
  { billing, installation }: Pick<Services, 'billing' | 'installation'>,
  clock: Clock,
): (context: ServiceContext) => Promise<PublicCatalog> {
  let kept: { at: number; catalog: Promise<PublicCatalog> } | undefined;
  async function read({ em, ...context }: ServiceContext): Promise<PublicCatalog> {
    const own = { ...context, em: em.fork() };
    const [models, plans] = [await billing.models(own), await billing.plans(own)];
    return {
      models,
      plans,
      simulated: installation.describe().simulated_models,
      topUp: billing.config().provider,
    };
  }
  return (context) => {
    const age = kept && clock.now() - kept.at;
    if (kept && age !== undefined && age >= 0 && age < CACHE_MS) return kept.catalog;
    const entry = { at: clock.now(), catalog: asOwnWork(() => read(context)) };
    kept = entry;
    entry.catalog.catch(() => {
      if (kept === entry) kept = undefined;
    });
    return entry.catalog;
  };
}

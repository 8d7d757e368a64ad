import type { Catalog, CatalogModel } from '../catalog.js';
import type { ModelRoutes } from '../model-routes.js';

/** The highest price at which a call of a model can be charged: the model's own or that of a fallback. */
export type MaxPrice = Pick<CatalogModel, 'contextWindow' | 'priceIn' | 'priceOut'>;

const dearer = (a: MaxPrice, b: MaxPrice): MaxPrice => ({
  contextWindow: Math.max(a.contextWindow, b.contextWindow),
  priceIn: a.priceIn > b.priceIn ? a.priceIn : b.priceIn,
  priceOut: a.priceOut > b.priceOut ? a.priceOut : b.priceOut,
});

/**
 * Creates a function that returns the highest price at which a call of a model can be charged. A model proxy that doesn't report its fallbacks may use any model of the same kind.
 */
export function createMaxPriceLookup(
  catalog: Catalog,
  routes: Pick<ModelRoutes, 'fallbacksOf' | 'version'>,
): (model: CatalogModel) => MaxPrice {
  let known = new WeakMap<CatalogModel, MaxPrice>();
  let version = -1;
  return (model) => {
    if (version !== routes.version()) {
      known = new WeakMap();
      version = routes.version();
    }
    // Each reading of the model table makes new objects, so a cached ceiling never outlives a change of price.
    let ceiling = known.get(model);
    if (!ceiling) {
      const names = routes.fallbacksOf(model.publicName);
      const others = names
        ? names.flatMap((name) => catalog.get(name) ?? [])
        : catalog.all().filter((other) => other.kind === model.kind);
      ceiling = others.reduce<MaxPrice>(dearer, model);
      known.set(model, ceiling);
    }
    return ceiling;
  };
}

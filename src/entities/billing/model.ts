import { defineEntity, p } from '@mikro-orm/core';

/** A public model and its prices. Seeded; the upstream id is internal. */
const ModelSchema = defineEntity({
  name: 'Model',
  tableName: 'models',
  properties: {
    publicName: p.text().primary(),
    upstreamModel: p.text().hidden(),
    family: p.text(),
    kind: p.text().$type<'chat' | 'embedding'>(),
    contextWindow: p.integer(),
    /** Dollars per million tokens, at most six decimals. */
    inputPricePerMillionUsd: p.decimal().precision(24).scale(12),
    outputPricePerMillionUsd: p.decimal().precision(24).scale(12),
    isFeatured: p.boolean().default(false),
    position: p.integer(),
  },
});

export class Model extends ModelSchema.class {}
ModelSchema.setClass(Model);

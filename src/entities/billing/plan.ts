import { defineEntity, p } from '@mikro-orm/core';

/** The models and the request rate that an account may use. Seeded; the id is the plan's name. */
const PlanSchema = defineEntity({
  name: 'Plan',
  tableName: 'plans',
  properties: {
    id: p.text().primary(),
    monthlyPriceUsd: p.decimal().precision(24).scale(12),
    includedCreditsUsd: p.decimal().precision(24).scale(12),
    /** Public model names. */
    allowedModels: p.array(),
    requestsPerMinute: p.integer(),
    position: p.integer(),
  },
});

export class Plan extends PlanSchema.class {}
PlanSchema.setClass(Plan);

import type { EntityManager } from '@mikro-orm/postgresql';
import { Model } from '../entities/billing/model.js';
import { Plan } from '../entities/billing/plan.js';
import { UNTRACKED } from './untracked.js';

/** The plans and models of the requirements. Fields that an operator may change later (`is_featured`) are set on insert only. */
const PLANS = [
  { id: 'free', price: '0', credits: '1.00', models: ['fast', 'embed'], rpm: 20 },
  { id: 'starter', price: '10', credits: '12.00', models: ['fast', 'qwen-fast', 'embed'], rpm: 60 },
  {
    id: 'pro',
    price: '20',
    credits: '25.00',
    models: ['fast', 'qwen-fast', 'qwen-pro', 'deepseek-code', 'embed'],
    rpm: 120,
  },
  { id: 'developer', price: '49', credits: '65.00', models: 'all', rpm: 300 },
  { id: 'team', price: '199', credits: '275.00', models: 'all', rpm: 1000 },
] as const;

const MODELS = [
  {
    name: 'fast',
    upstream: 'gemma-3-4b',
    family: 'gemma',
    context: 8192,
    input: '0.100000',
    output: '0.300000',
    featured: true,
  },
  {
    name: 'qwen-fast',
    upstream: 'qwen3-8b',
    family: 'qwen',
    context: 32768,
    input: '0.100000',
    output: '0.300000',
    featured: false,
  },
  {
    name: 'qwen-pro',
    upstream: 'qwen3-32b',
    family: 'qwen',
    context: 32768,
    input: '0.500000',
    output: '1.500000',
    featured: true,
  },
  {
    name: 'deepseek-code',
    upstream: 'deepseek-coder-v2',
    family: 'deepseek',
    context: 32768,
    input: '0.600000',
    output: '1.800000',
    featured: false,
  },
  {
    name: 'deepseek-reason',
    upstream: 'deepseek-r1-distill-32b',
    family: 'deepseek',
    context: 32768,
    input: '0.300000',
    output: '0.900000',
    featured: false,
  },
  {
    name: 'embed',
    upstream: 'nomic-embed-text-v1.5',
    family: 'embedding',
    context: 8192,
    input: '0.050000',
    output: '0.000000',
    featured: false,
  },
] as const;

const publicName = (short: string): string => `gateway/${short}`;

/** A model's seeded list price, in dollars per million tokens. */
export function modelPrice(short: (typeof MODELS)[number]['name']) {
  const { input, output } = MODELS.find(({ name }) => name === short)!;
  return { publicName: publicName(short), input, output };
}

/** Upserts the 5 plans and 6 models. */
export async function seedCatalog(em: EntityManager): Promise<void> {
  const all = MODELS.map((model) => publicName(model.name));
  const plans = PLANS.map((plan, position) => ({
    id: plan.id,
    monthlyPriceUsd: plan.price,
    includedCreditsUsd: plan.credits,
    allowedModels: plan.models === 'all' ? all : plan.models.map(publicName),
    requestsPerMinute: plan.rpm,
    position,
  }));
  const models = MODELS.map((model, position) => ({
    publicName: publicName(model.name),
    upstreamModel: model.upstream,
    family: model.family,
    kind: model.family === 'embedding' ? ('embedding' as const) : ('chat' as const),
    contextWindow: model.context,
    inputPricePerMillionUsd: model.input,
    outputPricePerMillionUsd: model.output,
    isFeatured: model.featured,
    position,
  }));
  await em.upsertMany(Plan, plans, UNTRACKED);
  await em.upsertMany(Model, models, { ...UNTRACKED, onConflictExcludeFields: ['isFeatured'] });
}

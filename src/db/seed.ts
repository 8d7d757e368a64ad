import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

/** SPEC section 2. Restarts converge: what an operator may change later (`is_featured`) is set on insert only. */
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

/** Upserts the 5 plans and 6 models. */
export async function seedCatalog(em: EntityManager): Promise<void> {
  const db = em.getKysely();
  const all = MODELS.map((model) => publicName(model.name));
  for (const [position, plan] of PLANS.entries()) {
    const allowed = plan.models === 'all' ? all : plan.models.map(publicName);
    await sql`
      insert into plans (id, monthly_price_usd, included_credits_usd, allowed_models, requests_per_minute, position)
      values (${plan.id}, ${plan.price}, ${plan.credits}, ${allowed}::text[], ${plan.rpm}, ${position})
      on conflict (id) do update set
        monthly_price_usd = excluded.monthly_price_usd, included_credits_usd = excluded.included_credits_usd,
        allowed_models = excluded.allowed_models, requests_per_minute = excluded.requests_per_minute,
        position = excluded.position`.execute(db);
  }
  for (const [position, model] of MODELS.entries()) {
    await sql`
      insert into models (public_name, upstream_model, family, kind, context_window, input_price_per_million_usd,
        output_price_per_million_usd, is_featured, position)
      values (${publicName(model.name)}, ${model.upstream}, ${model.family},
        ${model.family === 'embedding' ? 'embedding' : 'chat'}, ${model.context}, ${model.input}, ${model.output},
        ${model.featured}, ${position})
      on conflict (public_name) do update set
        upstream_model = excluded.upstream_model, family = excluded.family, kind = excluded.kind,
        context_window = excluded.context_window,
        input_price_per_million_usd = excluded.input_price_per_million_usd,
        output_price_per_million_usd = excluded.output_price_per_million_usd, position = excluded.position`.execute(
      db,
    );
  }
}

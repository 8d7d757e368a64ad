import { costOf, formatMoney, pricePerToken } from '../../lib/money.js';
import type { SitePage } from '../site.js';
import { formatInteger, money, simulatedNote } from './html.js';
import { type PublicCatalog, planTable, priceTable } from './prices.js';

const EXAMPLE = { model: 'gateway/qwen-pro', input: 1_200, output: 350 };

/** The cost of one call, computed as the ledger does. */
function example({ models }: PublicCatalog): string {
  const model = models.find((one) => one.model_public_name === EXAMPLE.model) ?? models[0];
  if (!model) return '';
  const { input_price_per_million_usd: priceIn, output_price_per_million_usd: priceOut } = model;
  const cost = costOf(EXAMPLE.input, EXAMPLE.output, pricePerToken(priceIn), pricePerToken(priceOut));
  return `<p>For example, ${formatInteger(EXAMPLE.input)} input tokens and ${formatInteger(EXAMPLE.output)} output tokens on <code>${model.model_public_name}</code> cost
(${formatInteger(EXAMPLE.input)} × ${money(priceIn)} + ${formatInteger(EXAMPLE.output)} × ${money(priceOut)}) ÷ 1,000,000 = ${money(formatMoney(cost))}.</p>`;
}

const ADDING = {
  mock: 'You add $10, $25, $50, $100 or $500 at a time. Top-ups are a mock for now: no card is charged.',
  off: 'To add credit, ask the administrator of this installation.',
};

const rules = ({ topUp }: PublicCatalog): string => `<ul>
<li>A failed call is free.</li>
<li>Nothing is rounded: the ledger holds each charge to its last digit.</li>
<li>Credit is prepaid. Below $0.001, calls are rejected until you add credit. The last calls before that may take the balance below zero, by what they cost. There is no invoice.</li>
<li>The free plan’s credit is granted once, at sign-up. Other plans add their credit each month.</li>
<li>${ADDING[topUp]}</li>
<li>To change your plan, ask the administrator of this installation.</li>
<li>The playground and <code>GET /v1/models</code> cost nothing.</li>
</ul>`;

/** `/pricing`: models, plans, and how calls are charged. */
export function pricingPage(catalog: PublicCatalog): SitePage {
  const main = `<p class="lead">Two prices per model, one plan per account. You pay for tokens from prepaid credit, and a failed call is free.</p>
<section><h2>Models</h2>
${priceTable(catalog.models)}
${simulatedNote(catalog.simulated)}
<p class="aside">In US dollars. Embeddings have no output tokens.</p></section>
<section><h2>Plans</h2>
<p>A plan decides which models you can call and how many requests per minute. Its price includes credit that is worth more.</p>
${planTable(catalog)}
<p class="actions"><a class="primary" href="/signup">Start on the free plan</a></p></section>
<section><h2>How a call is charged</h2>
<p>Input tokens × input price plus output tokens × output price, divided by 1,000,000.</p>
${example(catalog)}
${rules(catalog)}</section>
<section><h2>Compare with your bill today</h2>
<p><a href="/migrate">Estimate what the same tokens cost here</a>, from two figures or from a usage export.</p></section>`;
  const offers = catalog.plans.map((plan) => ({
    '@type': 'Offer',
    name: plan.name,
    price: Number(plan.monthly_price_usd).toFixed(2),
    priceCurrency: 'USD',
    description: `${plan.requests_per_minute} requests per minute, $${Number(plan.included_credits_usd).toFixed(2)} of credit`,
  }));
  return {
    path: '/pricing',
    title: 'Pricing',
    description:
      'Prices per million tokens of every model, and five plans from $0 a month. Prepaid, billed exactly per token, failed calls free.',
    about: {
      '@type': 'WebPage',
      mainEntity: { '@type': 'Service', name: 'Inference gateway', serviceType: 'LLM inference API', offers },
    },
    wide: true,
    main,
  };
}

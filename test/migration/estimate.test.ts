import { costsOf, savingsPct, scaled } from '../../src/services/migration/estimate.rules.js';
import { findLegacyModel } from '../../src/services/migration/legacy-models.rules.js';
import { LEGACY_PRICES, type LegacyProvider } from '../../src/services/migration/legacy-prices.data.js';
import type { EstimateOutput } from '../../src/services/migration/migration.outputs.js';
import { operate } from '../graphql/support.js';
import { call, type ErrorAnswer } from '../support/api.js';
import fc from '../support/fast-check.js';
import { usePlatform } from '../support/platform-suite.js';

const MILLION = 1_000_000;

describe('a migration estimate', () => {
  const suite = usePlatform();
  const ask = <T = EstimateOutput>(body: unknown) =>
    call<T>(suite.url, 'POST', '/api/migrate/estimate', { body });
  const usage = (legacy_provider: string, legacy_model: string) => ({
    legacy_provider,
    legacy_model,
    input_tokens_30d: MILLION,
    output_tokens_30d: MILLION,
  });

  test.each(['constructor/x', '__proto__/x', 'toString/gpt-4o', 'constructor'])(
    'of a name like %s is approximate',
    async (name) => {
      const { status, body } = await ask(usage('openrouter', name));
      expect([status, body.approximate]).toEqual([200, true]);
    },
  );

  test.each([
    ['openai', 'gpt-4o', 'gateway/qwen-pro', '12.500000', '2.000000', '10.500000', 84],
    ['openai', 'gpt-4o-mini', 'gateway/fast', '0.750000', '0.400000', '0.350000', 46.67],
    ['anthropic', 'claude-3.5-sonnet', 'gateway/qwen-pro', '18.000000', '2.000000', '16.000000', 88.89],
    ['anthropic', 'claude-3-haiku', 'gateway/fast', '1.500000', '0.400000', '1.100000', 73.33],
    [
      'openrouter',
      'deepseek/deepseek-coder',
      'gateway/deepseek-code',
      '0.420000',
      '2.400000',
      '-1.980000',
      -471.43,
    ],
    ['openai', 'text-embedding-3-small', 'gateway/embed', '0.020000', '0.050000', '-0.030000', -150],
  ])(
    'of %s %s is exact, whether it saves or not',
    async (provider, model, own, legacy, cost, saved, percent) => {
      const { status, headers, body } = await ask(usage(provider, model));
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=3600']);
      expect(body).toMatchObject({
        recommended_pr_model: own,
        legacy_cost_usd_30d: legacy,
        pr_cost_usd_30d: cost,
        monthly_savings_usd: saved,
        savings_pct: percent,
        approximate: false,
      });
      expect(Object.keys(body.code_snippets).sort()).toEqual(['curl', 'node', 'python']);
      for (const snippet of Object.values(body.code_snippets)) expect(snippet).toContain(own);
      const { data } = await operate(
        suite.url,
        `{ migrationEstimate(input: { legacyProvider: ${provider.toUpperCase()}, legacyModel: "${model}", inputTokens30d: 1e6, outputTokens30d: 1000000 }) { legacyCostUsd30d prCostUsd30d monthlySavingsUsd savingsPct recommendedPrModel } }`,
      ).then(({ body }) => body);
      expect(data).toEqual({
        migrationEstimate: {
          legacyCostUsd30d: legacy,
          prCostUsd30d: cost,
          monthlySavingsUsd: saved,
          savingsPct: percent,
          recommendedPrModel: own,
        },
      });
    },
  );

  test('without usage costs nothing and saves nothing', async () => {
    const { body } = await ask({ ...usage('openai', 'gpt-4o'), input_tokens_30d: 0, output_tokens_30d: 0 });
    expect(body).toMatchObject({
      legacy_cost_usd_30d: '0.000000',
      pr_cost_usd_30d: '0.000000',
      pr_cost_high_usd_30d: '0.000000',
      savings_pct: 0,
    });
  });

  test('counts cached input at its own price, and warns if it is missing', async () => {
    const known = await ask({ ...usage('openai', 'gpt-4o'), cached_input_tokens_30d: MILLION });
    expect(known.body.legacy_cost_usd_30d).toBe('11.250000');
    expect(known.body.warnings.join()).not.toContain('Cached input');
    const unknown = await ask(usage('openai', 'gpt-4o'));
    expect(unknown.body.warnings.join()).toContain('Cached input');
    expect(unknown.body).toMatchObject({
      pr_cost_low_usd_30d: '1.333333333333',
      pr_cost_high_usd_30d: '2.666666666667',
    });
  });

  test.each<[LegacyProvider, string, string]>([
    ['openai', 'gpt-4o-2024-08-06', 'gpt-4o'],
    ['openai', 'GPT-4o-mini-2024-07-18', 'gpt-4o-mini'],
    ['openai', 'gpt-3.5-turbo-0125', 'gpt-3.5-turbo'],
    ['openai', 'chatgpt-4o-latest', 'gpt-4o'],
    ['anthropic', 'claude-3-5-sonnet-20241022', 'claude-3.5-sonnet'],
    ['anthropic', 'claude-3-haiku-20240307', 'claude-3-haiku'],
    ['anthropic', 'claude-3-7-sonnet-latest', 'claude-3.7-sonnet'],
    ['anthropic', 'claude-opus-4-1-20250805', 'claude-opus-4.1'],
    ['openrouter', 'openai/gpt-4o', 'gpt-4o'],
    ['openrouter', 'anthropic/claude-3.5-sonnet:beta', 'claude-3.5-sonnet'],
    ['openrouter', 'deepseek-coder', 'deepseek/deepseek-coder'],
    ['openrouter', 'meta-llama/llama-3.1-8b-instruct:free', 'meta-llama/llama-3.1-8b-instruct'],
  ])('knows %s %s', (provider, name, model) => {
    const found = findLegacyModel(provider, name);
    expect([found.price.name, found.approximate]).toEqual([model, false]);
  });

  test('knows every name of its own list, dated or not', () => {
    for (const [provider, prices] of Object.entries(LEGACY_PRICES))
      for (const price of prices)
        for (const name of [price.name, `${price.name}-2025-01-31`, `${price.name}-20250131`])
          expect([name, findLegacyModel(provider as LegacyProvider, name)]).toEqual([
            name,
            expect.objectContaining({ price, approximate: false }),
          ]);
  });

  test.each([
    ['openai', 'gpt-9-turbo', 'gateway/qwen-pro'],
    ['openai', 'gpt-9-mini', 'gateway/fast'],
    ['anthropic', 'claude-embed-9', 'gateway/embed'],
    ['anthropic', 'claude-code-9', 'gateway/deepseek-code'],
    ['openrouter', 'somebody/thinking-1', 'gateway/deepseek-reason'],
    ['openrouter', '__proto__', 'gateway/qwen-pro'],
  ])(
    'of an unknown %s model %s is marked as approximate, and is never free',
    async (provider, model, own) => {
      const { status, body } = await ask(usage(provider, model));
      expect([status, body.recommended_pr_model, body.approximate]).toEqual([200, own, true]);
      expect(Number(body.legacy_cost_usd_30d)).toBeGreaterThan(0);
      expect(body.warnings[0]).toContain(`We don't know "${model}"`);
    },
  );

  test.each([
    ['legacy_provider', { ...usage('aws', 'gpt-4o') }],
    ['legacy_model', { ...usage('openai', ' ') }],
    ['legacy_model', { ...usage('openai', 'x'.repeat(201)) }],
    ['input_tokens_30d', { ...usage('openai', 'gpt-4o'), input_tokens_30d: -1 }],
    ['output_tokens_30d', { ...usage('openai', 'gpt-4o'), output_tokens_30d: 1.5 }],
    ['output_tokens_30d', { ...usage('openai', 'gpt-4o'), output_tokens_30d: 2 ** 53 }],
    ['cached_input_tokens_30d', { ...usage('openai', 'gpt-4o'), cached_input_tokens_30d: MILLION + 1 }],
    ['', { ...usage('openai', 'gpt-4o'), api_key: 'sk-1' }],
  ])('with an invalid %s is refused', async (field, body) => {
    const answer = await ask<ErrorAnswer>(body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect(answer.body.error.details!.map((detail) => detail.field)).toEqual([field || 'api_key']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('lists the missing fields, and the allowed values', async () => {
    const answer = await ask<ErrorAnswer>({ legacy_provider: 'aws' } as never);
    expect(answer.body.error.details).toEqual([
      { field: 'legacy_provider', message: 'must be openai, anthropic or openrouter' },
      { field: 'legacy_model', message: 'is required' },
      { field: 'input_tokens_30d', message: 'is required' },
      { field: 'output_tokens_30d', message: 'is required' },
    ]);
  });

  test('over GraphQL names the invalid field', async () => {
    const { body } = await operate(
      suite.url,
      '{ migrationEstimate(input: { legacyProvider: OPENAI, legacyModel: "gpt-4o", inputTokens30d: -1, outputTokens30d: 0 }) { savingsPct } }',
    );
    expect(body.errors![0]!.extensions.details).toEqual([
      { field: 'inputTokens30d', message: expect.stringContaining('must be 0 to') },
    ]);
  });

  test('is exact to the last digit for any counts', () => {
    const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(count, count, fc.double({ min: 0, max: 1, noNaN: true }), (inputs, outputs, part) => {
        const cached = Math.floor(inputs * part);
        const found = findLegacyModel('openai', 'gpt-4o');
        const costs = costsOf(
          {
            legacy_provider: 'openai',
            legacy_model: 'gpt-4o',
            input_tokens_30d: inputs,
            output_tokens_30d: outputs,
            cached_input_tokens_30d: cached,
          },
          found,
          { input: '0.500000', output: '1.500000' },
        );
        // Dollars per million, in hundredths: 2.50, 1.25, 10.00 and 0.50, 1.50.
        const legacy = BigInt(inputs - cached) * 250n + BigInt(cached) * 125n + BigInt(outputs) * 1_000n;
        expect(costs.legacy).toBe(legacy * 10_000n);
        expect(costs.own).toBe((BigInt(inputs) * 50n + BigInt(outputs) * 150n) * 10_000n);
        if (legacy > 0n) {
          const exact = (Number(costs.legacy - costs.own) / Number(costs.legacy)) * 100;
          expect(Math.abs(savingsPct(costs) - exact)).toBeLessThan(0.0051);
        }
      }),
    );
  });

  test.each([
    [5n, 1n, 2n, 3n],
    [-5n, 1n, 2n, -3n],
    [4n, 1n, 3n, 1n],
    [0n, 4n, 3n, 0n],
  ])('rounds %p × %p ÷ %p to %p', (amount, times, by, expected) =>
    expect(scaled(amount, times, by)).toBe(expected),
  );
});

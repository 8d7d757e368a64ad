import { readCount } from '../../src/pages/public/migrate/usage-form.rules.js';
import { findLegacyModel } from '../../src/services/migration/legacy-models.rules.js';
import { LEGACY_PROVIDERS } from '../../src/services/migration/legacy-prices.data.js';
import type { EstimateOutput } from '../../src/services/migration/migration.outputs.js';
import { call } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { faultsOf } from './html-faults.js';
import { textOf } from './support.js';

describe('/migrate without scripts', () => {
  const suite = usePlatform();
  const get = async (fields: Record<string, string>) => {
    const { status, text } = await call(suite.url, 'GET', `/migrate?${new URLSearchParams(fields)}`);
    expect([status, faultsOf(text)]).toEqual([200, []]);
    return text;
  };
  const USAGE = { legacy_provider: 'openai', legacy_model: 'gpt-4o-mini' };

  test("shows the API's estimate, in dollars to the last digit", async () => {
    const tokens = { input_tokens_30d: 1_234_567, output_tokens_30d: 89_012, cached_input_tokens_30d: 1_000 };
    const { body } = await call<EstimateOutput>(suite.url, 'POST', '/api/migrate/estimate', {
      body: { ...USAGE, ...tokens },
    });
    const asText = Object.fromEntries(Object.entries(tokens).map(([name, count]) => [name, String(count)]));
    const shown = textOf(await get({ ...USAGE, ...asText })).replaceAll(' ', '');
    for (const usd of [body.legacy_cost_usd_30d, body.pr_cost_usd_30d, body.monthly_savings_usd])
      expect(shown).toContain(`$${usd.replace(/0+$/, '')}`);
    expect(shown).toContain(`${body.savings_pct}%less`);
    expect(body.warnings).not.toEqual([]);
    for (const warning of body.warnings) expect(shown).toContain(warning.replaceAll(' ', ''));
  });

  test.each(LEGACY_PROVIDERS)('suggests for %s only models with a known price', async (provider) => {
    const text = await get({ ...USAGE, legacy_provider: provider });
    const [, list] = /<datalist id="models">(.*?)<\/datalist>/.exec(text)!;
    const names = [...list!.matchAll(/<option value="([^"]+)">/g)].map(([, name]) => textOf(name!));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names)
      expect([name, findLegacyModel(provider, name).approximate]).toEqual([name, false]);
  });

  test('names the provider of a model that belongs to another one', async () => {
    const counts = { input_tokens_30d: '1M', output_tokens_30d: '1M' };
    const ofAnthropic = { ...counts, legacy_model: 'claude-opus-4.1' };
    const message = '"claude-opus-4.1" is a model of Anthropic: choose that provider for its price.';
    expect(textOf(await get({ ...ofAnthropic, legacy_provider: 'openai' }))).toContain(message);
    expect(textOf(await get({ ...ofAnthropic, legacy_provider: 'anthropic' }))).not.toContain(message);
  });

  test.each([
    ['1', '$0.0000013 to $0.0000027'],
    ['100k', '$0.13 to $0.27'],
    ['10M', '$13.33 to $26.67'],
    ['10b', '$13,333.33 to $26,666.67'],
  ])('shows the range for %s tokens each as a rough one', async (count, range) => {
    const text = await get({
      legacy_provider: 'openai',
      legacy_model: 'gpt-4o',
      input_tokens_30d: count,
      output_tokens_30d: count,
    });
    expect(textOf(text)).toContain(range);
  });

  test.each([
    ['1,5M', 'Enter decimals with a point, such as 1.5M.'],
    ['9007199254740992', 'Enter at most 9,007,199,254,740,991.'],
    ['99999999999b', 'Enter at most 9,007,199,254,740,991.'],
    ['5e', 'Enter a whole number, such as 30,000,000 or 30M.'],
  ])('shows the fault of %p next to it', async (count, message) => {
    const text = await get({ ...USAGE, input_tokens_30d: count, output_tokens_30d: '1' });
    expect(/id="input_tokens_30d-fault">([^<]*)</.exec(text)?.[1]).toBe(message);
  });

  test('links each control to its hint and its fault', async () => {
    const text = await get({ ...USAGE, peak_requests_per_minute: 'x' });
    const [, ids] = /id="peak_requests_per_minute"[^>]* aria-describedby="([^"]+)"/.exec(text)!;
    const words = ids!.split(' ').map((id) => new RegExp(`id="${id}">([^<]*)<`).exec(text)?.[1]);
    expect(words).toEqual([
      'Optional. Decides which plan you need.',
      'Enter a whole number, such as 30,000,000 or 30M.',
    ]);
  });

  test('offers other token counts for the same model', async () => {
    const text = await get({ legacy_provider: 'anthropic', legacy_model: 'a "b" & c' });
    expect(text).toContain(
      '/migrate?legacy_provider=anthropic&#38;legacy_model=a+%22b%22+%26+c&#38;input_tokens_30d=10M&#38;output_tokens_30d=10M',
    );
  });

  test('points out if it is more expensive here, and if a model is a guess', async () => {
    const counts = { input_tokens_30d: '10M', output_tokens_30d: '10M' };
    const dearer = textOf(
      await get({ ...counts, legacy_provider: 'openai', legacy_model: 'text-embedding-3-small' }),
    );
    expect(dearer).toContain('More per month here $0.30 150% more');
    const guess = textOf(await get({ ...counts, legacy_provider: 'openai', legacy_model: 'gpt-99-nano' }));
    expect(guess).toContain(`We don't know "gpt-99-nano".`);
  });

  test.each([
    ['', 'You need at least the pro plan ( $20.00 a month, 120 requests per minute). Enter your peak'],
    ['100', 'A peak of 100 requests per minute needs the pro plan ( $20.00 a month'],
    ['121', 'needs the developer plan ( $49.00 a month, 300 requests per minute).'],
    ['1,001', 'A peak of 1,001 requests per minute is above the limit of every plan (1,000).'],
  ])('names the plan for a peak of %p', async (peak_requests_per_minute, message) => {
    const text = await get({
      legacy_provider: 'openai',
      legacy_model: 'gpt-4o',
      input_tokens_30d: '1',
      output_tokens_30d: '1',
      peak_requests_per_minute,
    });
    expect(textOf(text).replaceAll(/ (?=[).])/g, '')).toContain(message);
  });

  test('shows each fault next to its field, keeps the input, and runs none of it', async () => {
    const typed = '"><script>alert(1)</script>';
    const text = await get({
      legacy_provider: 'nobody',
      legacy_model: typed,
      input_tokens_30d: '-1',
      output_tokens_30d: '',
      cached_input_tokens_30d: 'x',
    });
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('value="&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;"');
    expect(text.match(/aria-invalid="true"/g)).toHaveLength(4);
    const shown = textOf(text);
    expect(shown).toContain('Choose one of the providers.');
    expect(shown.match(/Enter a whole number/g)).toHaveLength(3);
    expect(shown).toContain('Correct the marked fields');
    const more = textOf(
      await get({ ...USAGE, input_tokens_30d: '5', output_tokens_30d: '1', cached_input_tokens_30d: '6' }),
    );
    expect(more).toContain('there can’t be more of them');
  });

  test.each([
    ['30,000,000', 30_000_000],
    ['30 000 000', 30_000_000],
    ['1.5k', 1_500],
    ['100M', 100_000_000],
    ['2b', 2_000_000_000],
    ['0', 0],
    ['-1', undefined],
    ['', undefined],
    ['1e9', undefined],
    ['1,500k', 1_500_000],
    ['1,5M', undefined],
    ['1,50', undefined],
    ['1.234', undefined],
    ['1.234.567', undefined],
    ['1.234M', 1_234_000],
    ['1,2345', undefined],
    ['1,234,56', undefined],
    ['9999999999999999', undefined],
    ['99999999999b', undefined],
  ])('reads %p as %p', (text, count) =>
    expect(readCount(text)).toEqual(count ?? (expect.any(String) as string)),
  );
});

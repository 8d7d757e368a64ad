import { csvRows } from '../../src/pages/public/migrate/csv.rules.js';
import { exportView } from '../../src/pages/public/migrate/export-view.rules.js';
import { exportText, readUsageExport } from '../../src/pages/public/migrate/usage-export.rules.js';

const HERE = {
  baseUrl: 'https://gateway.example.com',
  priceOf: (own: string) => ({ publicName: `gateway/${own}`, input: '0.1', output: '0.3' }),
};

const OPENAI_CSV = `start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,user_id,api_key_id,model,batch,service_tier,input_tokens,output_tokens,input_cached_tokens
1761955200,1762041600,2025-11-01T00:00:00+00:00,2025-11-02T00:00:00+00:00,proj_1,1000,,,gpt-4o-2024-08-06,false,default,500000,90000,100000
1762041600,1762128000,2025-11-02T00:00:00+00:00,2025-11-03T00:00:00+00:00,proj_1,2880,,,gpt-4o-2024-08-06,false,default,700000,110000,0
1762041600,1762128000,2025-11-02T00:00:00+00:00,2025-11-03T00:00:00+00:00,proj_2,1440,,,"gpt-4o-mini",false,default,40000,1000,0
1762128000,1762214400,2025-11-03T00:00:00+00:00,2025-11-04T00:00:00+00:00,,0,,,,,,0,0,0
`;

describe('a usage export', () => {
  test('of OpenAI as CSV is summed by model, with all its days and its busiest day', () => {
    expect(readUsageExport(OPENAI_CSV)).toEqual({
      provider: 'openai',
      models: [
        { model: 'gpt-4o-2024-08-06', input: 1_200_000, cached: 100_000, output: 200_000 },
        { model: 'gpt-4o-mini', input: 40_000, cached: 0, output: 1_000 },
      ],
      days: 3,
      busiest: { requests: 4_320, minutes: 1_440 },
    });
  });

  test('of OpenAI as JSON of the usage API, in buckets of an hour', () => {
    const bucket = (start: number, requests: number) => ({
      object: 'bucket',
      start_time: start,
      end_time: start + 3_600,
      results: [
        {
          model: 'o3',
          input_tokens: 10,
          input_cached_tokens: 4,
          output_tokens: 5,
          num_model_requests: requests,
        },
      ],
    });
    const page = { object: 'page', data: [bucket(1_761_955_200, 60), bucket(1_761_958_800, 120)] };
    expect(readUsageExport(JSON.stringify(page))).toEqual({
      provider: 'openai',
      models: [{ model: 'o3', input: 20, cached: 8, output: 10 }],
      days: 1,
      busiest: { requests: 120, minutes: 60 },
    });
  });

  test('of a month with one day of usage covers a month', () => {
    const results = [{ model: 'gpt-4o', input_tokens: 1_000_000, output_tokens: 0, num_model_requests: 9 }];
    const data = Array.from({ length: 30 }, (_, day) => ({
      object: 'bucket',
      start_time: 1_761_955_200 + day * 86_400,
      end_time: 1_761_955_200 + (day + 1) * 86_400,
      results: day === 2 ? results : [],
    }));
    const usage = readUsageExport(JSON.stringify({ object: 'page', data }))!;
    expect(usage).toMatchObject({
      models: [{ model: 'gpt-4o', input: 1_000_000 }],
      days: 30,
      busiest: { requests: 9, minutes: 1_440 },
    });
    const view = exportView(usage, HERE, []);
    expect(view).toContain('1 model<');
    expect(view).not.toContain('scaled to');
  });

  test('of one day is scaled and marked as such', () => {
    const usage = readUsageExport('model,date,input_tokens,output_tokens\ngpt-4o,2025-11-01,1000000,0')!;
    const view = exportView(usage, HERE, []);
    expect(view).toContain('of 1 day, scaled to 30. Do they cover more? Remove the dates.');
  });

  test.each([
    ['2025-11-01T00:00:00Z,2025-12-01T00:00:00Z', 30],
    ['1761955200,1764547200', 30],
    ['2025-11,', 30],
    ['2025-10-01,2025-12-30', 90],
    ['2025-11-01,2025-11-01', 1],
    ['30.11.2025,', 1],
  ])('with one line for %s covers %d days', (times, days) => {
    const csv = `model,start_time,end_time,input_tokens,output_tokens\ngpt-4o,${times},3000000,0`;
    expect(readUsageExport(csv)).toMatchObject({ days, models: [{ input: 3_000_000 }] });
  });

  test('with one line for a month has no busiest day', () => {
    const csv = 'model,date,n_requests,input_tokens,output_tokens\ngpt-4o,2025-11,86400,3000000,0';
    const view = exportView(readUsageExport(csv)!, HERE, []);
    expect(view).toContain('Your busiest 30 days had 86,400 requests, 2 a minute on average.');
    expect(view).not.toContain('scaled to');
  });

  test('accepts the order of days of much of Europe, too', () => {
    const rows = ['1.11.2025', '13.11.2025 07:00', '30.11.2025'].map((date) => `gpt-4o;${date};1;1`);
    const usage = readUsageExport(`model;date;input_tokens;output_tokens\n${rows.join('\n')}`);
    expect(usage).toMatchObject({ days: 30 });
  });

  test('of Anthropic counts cached and written input into the input', () => {
    const csv = `usage_date_utc,model_version,api_key,usage_type,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens
2025-11-01,claude-sonnet-4-5-20250929,key,standard,100,20,3,400,50
2025-11-30,claude-sonnet-4-5-20250929,key,standard,1,0,0,0,1`;
    expect(readUsageExport(csv)).toEqual({
      provider: 'anthropic',
      models: [{ model: 'claude-sonnet-4-5-20250929', input: 524, cached: 400, output: 51 }],
      days: 30,
    });
    const json = {
      data: [
        {
          starting_at: '2025-11-01T00:00:00Z',
          ending_at: '2025-11-02T00:00:00Z',
          results: [
            {
              model: 'claude-3-haiku',
              uncached_input_tokens: 100,
              cache_read_input_tokens: 400,
              cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 3 },
              output_tokens: 50,
            },
          ],
        },
      ],
    };
    expect(readUsageExport(JSON.stringify(json))).toMatchObject({
      provider: 'anthropic',
      models: [{ model: 'claude-3-haiku', input: 523, cached: 400, output: 50 }],
    });
  });

  test('of OpenRouter has a row per call, which gives its busiest minute', () => {
    const rows = ['00:05', '00:40', '01:10'].map(
      (time, i) => `gen-${i},2025-11-01 10:${time},openai/gpt-4o,10,5`,
    );
    const csv = `generation_id,created_at,model_permaslug,tokens_prompt,tokens_completion\r\n${rows.join('\r\n')}\r\n`;
    expect(readUsageExport(csv)).toEqual({
      provider: 'openrouter',
      models: [{ model: 'openai/gpt-4o', input: 30, cached: 0, output: 15 }],
      days: 1,
      busiest: { requests: 2, minutes: 1 },
    });
  });

  test.each([
    '',
    'hello',
    'a,b\n1,2',
    '{',
    '[]',
    '{"data":[]}',
    'model,input_tokens\n,5',
    'null',
    '[[[[[[1]]]]]]',
  ])('is undefined for %p', (text) => expect(readUsageExport(text)).toBeUndefined());

  test('is read from a file in UTF-8, and in UTF-16', () => {
    const text = '\uFEFFmodel,input_tokens,output_tokens\ngpt-4o,1000000,1';
    for (const encoding of ['utf8', 'utf16le'] as const) {
      const read = exportText(new Uint8Array(Buffer.from(text, encoding)).buffer);
      expect(readUsageExport(read)).toMatchObject({ models: [{ model: 'gpt-4o', input: 1_000_000 }] });
    }
    expect(exportText(new ArrayBuffer())).toBe('');
  });

  test('is CSV with quotes, line breaks within them, semicolons or tabs', () => {
    expect(csvRows('a,"b ""c"", d"\r\n"e\nf",\n\n')).toEqual([
      ['a', 'b "c", d'],
      ['e\nf', ''],
    ]);
    expect(csvRows('a;b\n1,5;2')).toEqual([
      ['a', 'b'],
      ['1,5', '2'],
    ]);
    expect(csvRows('a\tb\n1\t2')).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
  });

  test.each([
    ['1234567', 1_234_567],
    ['1,234,567', 1_234_567],
    ['12,34,567', 1_234_567],
    ['1 234 567', 1_234_567],
    ['1\u202f234\u202f567', 1_234_567],
    ['1’234’567', 1_234_567],
    ['1234567.0', 1_234_567],
    ['1.23e6', 1_230_000],
    ['NaN', 0],
    ['-', 0],
    ['-5', 0],
    ['0.000', 0],
    ['1.234', undefined],
    ['500.000', undefined],
    ['1.234.567', undefined],
    ['1.234,567', undefined],
    ['1,5', undefined],
    ['1234,5', undefined],
    ['1,23457E+06', undefined],
    ['12 apples', undefined],
  ])('has the count %s as %s, in whichever column', (written, count) => {
    const read = (counts: string) =>
      readUsageExport(
        `model;input_tokens;input_cached_tokens;output_tokens\ngpt-4o;${counts}\ngpt-4o;7000000;0;0`,
      );
    expect(read(`${written};0;7`)?.models).toEqual(
      count === undefined ? undefined : [{ model: 'gpt-4o', input: 7_000_000 + count, cached: 0, output: 7 }],
    );
    expect(read(`7;0;${written}`)?.models.at(0)?.output).toBe(count);
    expect(read(`7000000;${written};7`)?.models.at(0)?.cached).toBe(count);
  });

  test('that is hostile or absurd is read as far as it makes sense, and never throws', () => {
    const head = 'model,date,n_requests,input_tokens,output_tokens';
    const huge = ['1e308', '1e308', '-5', 'NaN', 'Infinity', '0x10', '9'.repeat(400)];
    const usage = readUsageExport(
      [head, ...huge.map((count) => `__proto__,2025-11-01,${count},${count},${count}`)].join('\n'),
    )!;
    expect(usage.models).toMatchObject([{ model: '__proto__', cached: 0 }]);
    // Capped, so that sums stay finite.
    expect(usage.models[0]!.input).toBeCloseTo(3 * Number.MAX_SAFE_INTEGER, -3);
    expect(exportView(usage, HERE, [])).toContain('__proto__');

    // As many times as there are lines.
    const times = Array.from({ length: 200_000 }, (_, i) => `gpt-4o,${1e9 + i},1,1,1`);
    expect(readUsageExport([head, ...times].join('\n'))).toMatchObject({ models: [{ input: 200_000 }] });
    // As many models as there are lines: a column of something else.
    const models = Array.from({ length: 1_001 }, (_, i) => `model ${i},2025-11-01,1,1,1`);
    expect(readUsageExport([head, ...models].join('\n'))).toBeUndefined();
    expect(readUsageExport(`${'['.repeat(500_000)}`)).toBeUndefined();
  });

  test('shows the names of models as text, shortened to a readable length', () => {
    const name = `<img src=x onerror=alert(1)>"'&${'x'.repeat(5_000)}`;
    for (const text of [
      `model,input_tokens,output_tokens\n"${name.replaceAll('"', '""')}",1000000,1`,
      JSON.stringify([{ model: name, input_tokens: 1_000_000, output_tokens: 1 }]),
    ]) {
      const usage = readUsageExport(text)!;
      expect(usage.models[0]!.model).toHaveLength(200);
      const html = exportView(usage, HERE, []);
      expect(html).toContain('&#60;img src=x onerror=alert(1)&#62;&#34;&#39;&#38;');
      expect(html).not.toContain('<img');
    }
  });
});

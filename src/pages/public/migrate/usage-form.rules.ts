import { LEGACY_PROVIDERS, type LegacyProvider } from '../../../services/migration/legacy-prices.data.js';
import { formatInteger } from '../html.js';

/** The submitted form of `/migrate`, by field name. */
export interface UsageForm {
  legacy_provider: string;
  legacy_model: string;
  input_tokens_30d: string;
  output_tokens_30d: string;
  cached_input_tokens_30d: string;
  peak_requests_per_minute: string;
}

/** The initial example: a month of a small product. */
export const EXAMPLE_USAGE: UsageForm = {
  legacy_provider: 'openai',
  legacy_model: 'gpt-4o',
  input_tokens_30d: '30,000,000',
  output_tokens_30d: '10,000,000',
  cached_input_tokens_30d: '',
  peak_requests_per_minute: '',
};

/** A valid form. */
export interface Usage {
  legacy_provider: LegacyProvider;
  legacy_model: string;
  input_tokens_30d: number;
  output_tokens_30d: number;
  cached_input_tokens_30d?: number;
  peakPerMinute?: number;
}

/** Each is a thousand times the previous one. */
const SCALES = ['', 'k', 'm', 'b'];

const MOST = Number.MAX_SAFE_INTEGER;

const A_COUNT = 'Enter a whole number, such as 30,000,000 or 30M.';
const A_POINT = 'Enter decimals with a point, such as 1.5M.';

/**
 * A count as people write it: `30,000,000`, `30 000 000`, `30M`, `1.5k`.
 * @returns the count, or the fault of the text
 */
export function readCount(text: string): number | string {
  const match = /^(\d+(?:,\d{3})*(?:\.\d+(?=[kmb]))?)([kmb]?)$/i.exec(text.replace(/[\s_’']/g, ''));
  // In much of the world a comma is the decimal separator, and `1.234` is more than a thousand.
  if (!match) return text.includes(',') ? A_POINT : A_COUNT;
  const number = Number(match[1]!.replaceAll(',', ''));
  const count = Math.round(number * 1_000 ** SCALES.indexOf(match[2]!.toLowerCase()));
  return count > MOST ? `Enter at most ${formatInteger(MOST)}.` : count;
}

const LONGEST_NAME = 200;

/** The values of a form, and its faults by field. */
export function readForm(form: UsageForm): { usage?: Usage; faults: Partial<UsageForm> } {
  const faults: Partial<UsageForm> = {};
  const provider = LEGACY_PROVIDERS.find((one) => one === form.legacy_provider);
  if (!provider) faults.legacy_provider = 'Choose one of the providers.';
  const model = form.legacy_model.trim();
  if (model === '' || model.length > LONGEST_NAME) faults.legacy_model = 'Enter the name of the model.';
  const count = (name: keyof UsageForm, isOptional = false): number | undefined => {
    if (isOptional && form[name].trim() === '') return undefined;
    const read = readCount(form[name]);
    if (typeof read === 'number') return read;
    faults[name] = read;
    return undefined;
  };
  const input = count('input_tokens_30d');
  const output = count('output_tokens_30d');
  const cached = count('cached_input_tokens_30d', true);
  const peak = count('peak_requests_per_minute', true);
  if (cached !== undefined && input !== undefined && cached > input)
    faults.cached_input_tokens_30d =
      'Cached tokens are part of the input tokens: there can’t be more of them.';
  if (Object.keys(faults).length > 0) return { faults };
  return {
    faults,
    usage: {
      legacy_provider: provider!,
      legacy_model: model,
      input_tokens_30d: input!,
      output_tokens_30d: output!,
      ...(cached !== undefined && { cached_input_tokens_30d: cached }),
      ...(peak !== undefined && { peakPerMinute: peak }),
    },
  };
}

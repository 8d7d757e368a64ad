import { escaped } from '../../../lib/html.js';
import type { UsageForm } from './usage-form.rules.js';

/** Links to estimates for the same model with other token counts. */
export function presetsView({ legacy_provider, legacy_model }: UsageForm): string {
  const links = ['1M', '10M', '100M'].map((count) => {
    const chosen = { legacy_provider, legacy_model, input_tokens_30d: count, output_tokens_30d: count };
    return `<a href="${escaped(`/migrate?${new URLSearchParams(chosen)}`)}">${count}</a>`;
  });
  return `Same tokens in and out with ${escaped(legacy_model.trim() || 'this model')}: ${links.join('')}`;
}

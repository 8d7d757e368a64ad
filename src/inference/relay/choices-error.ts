/**
 * The error that a choice reports, as OpenRouter does: `{"choices":[{"error":{"code":502,…}}]}`. The payload of an
 * error answer, or undefined.
 */
export function choicesError(choices: unknown): Buffer | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) {
    const error = (choice as { error?: unknown } | null)?.error;
    if (error) return Buffer.from(JSON.stringify({ error }));
  }
  return undefined;
}

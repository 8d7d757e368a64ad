import { placeholderNames } from '../../../../src/services/prompts/placeholders.rules';

const IN_BRACES = /\{\{[^{}\n]{0,80}\}\}/g;
const SHOWN = 5;

/** The first pieces of a text that look like placeholders but are invalid, such as `{{ first-name }}`. */
export const brokenPlaceholders = (text: string): string[] =>
  [...new Set((text.match(IN_BRACES) ?? []).filter((piece) => placeholderNames(piece).length === 0))].slice(
    0,
    SHOWN,
  );

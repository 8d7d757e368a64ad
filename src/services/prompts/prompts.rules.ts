import { characters } from '../../lib/characters.js';
import { uuidOf } from '../../lib/uuid.js';
import { placeholders } from './placeholders.rules.js';

/** Limits of an account's prompts, and of a prompt's versions. */
export const MAX_PROMPTS = 200;
export const MAX_VERSIONS = 500;
/** The longest content, and as much again for declarations: lists return a version of each prompt. */
export const MAX_VERSION_CHARACTERS = 100_000;
export const MAX_PROMPT_CHARACTERS = 2_000_000;
/** Over all prompts of an account: ten times as many as one prompt may have, at most 80 MB in UTF-8. */
export const MAX_ACCOUNT_CHARACTERS = 20_000_000;
/** Maximum size of a rendered prompt. */
export const MAX_RENDERED_BYTES = 1_048_576;
/** Activations that are kept per prompt. */
export const MAX_ACTIVATIONS = 1_000;

/**
 * Maximum number of undeclared placeholders in a warning: a text can have thousands, and a response hundreds of
 * texts.
 */
export const MAX_UNDECLARED = 20;

const MAX_SLUG = 80;
const FALLBACK_SLUG = 'prompt';
/** Letters that Unicode doesn't decompose into a base letter and a mark. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ŋ: 'n',
};

/** Shortens a slug without leaving a hyphen at its end. */
const cut = (slug: string, length: number): string => {
  const short = slug.slice(0, length);
  return short.endsWith('-') ? short.slice(0, -1) : short;
};

/**
 * The slug of a name: lowercase ASCII with diacritics folded, one hyphen for every other run of characters, at most
 * 80 characters. Never looks like a UUID, because a URL may contain either.
 */
export function slugOf(name: string): string {
  const folded = [...name.normalize('NFKD').toLowerCase()].map((letter) => FOLDED[letter] ?? letter).join('');
  const words = folded.replace(/\p{M}/gu, '').match(/[a-z0-9]+/g) ?? [];
  const slug = cut(words.join('-'), MAX_SLUG) || FALLBACK_SLUG;
  return uuidOf(slug) === undefined ? slug : `${FALLBACK_SLUG}-${slug}`;
}

/** The slug itself, or the first of `slug-2`, `slug-3`, … that isn't among `taken`. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug;
  for (let n = 2; ; n++) {
    const end = `-${n}`;
    const next = cut(slug, MAX_SLUG - end.length) + end;
    if (!taken.has(next)) return next;
  }
}

/** A problem of a version that doesn't prevent saving it. */
export interface PromptWarning {
  code: 'undeclared_placeholder' | 'unused_variable';
  name: string;
  message: string;
}

/**
 * The first undeclared placeholders, and all declared but unused variables. Stops early: lists call it for hundreds
 * of texts.
 */
export function warningsOf(content: string, variables: readonly { name: string }[]): PromptWarning[] {
  const unused = new Set(variables.map(({ name }) => name));
  const declared = new Set(unused);
  const undeclared = new Set<string>();
  for (const { name } of placeholders(content)) {
    if (declared.has(name)) unused.delete(name);
    else if (undeclared.size < MAX_UNDECLARED) undeclared.add(name);
    if (unused.size === 0 && undeclared.size === MAX_UNDECLARED) break;
  }
  return [
    ...[...undeclared].map((name) => ({
      code: 'undeclared_placeholder' as const,
      name,
      message: `{{ ${name} }} is not declared, so every render must supply a value.`,
    })),
    ...[...unused].map((name) => ({
      code: 'unused_variable' as const,
      name,
      message: `The variable ${name} is declared, but the content has no {{ ${name} }}.`,
    })),
  ];
}

/** Counts characters as schemas do: code points, not UTF-16 units. */
const lengthOf = (text: string | null | undefined): number => (text ? characters(text) : 0);

/** Characters that count toward the limits of a version and of a prompt. */
export function charactersOf(version: {
  content: string;
  notes?: string | null | undefined;
  variables: readonly { name: string; description: string | null; default: string | null }[];
}): number {
  const declared = version.variables.map(
    ({ name, description, default: value }) => lengthOf(name) + lengthOf(description) + lengthOf(value),
  );
  return lengthOf(version.content) + lengthOf(version.notes) + declared.reduce((sum, n) => sum + n, 0);
}

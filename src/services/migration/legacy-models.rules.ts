import {
  LEGACY_PRICES,
  LEGACY_PROVIDERS,
  type LegacyPrice,
  type LegacyProvider,
  type OwnModel,
  SOURCES,
} from './legacy-prices.data.js';

/** A legacy model's price and its replacement. */
export interface LegacyModel {
  price: LegacyPrice;
  /** The provider whose price list was used. */
  provider: LegacyProvider;
  /** Whether the name is unknown and the price is that of a similar model. */
  approximate: boolean;
  /** For an unknown name: another provider that has a model of that name. */
  elsewhere?: LegacyProvider | undefined;
}

/** Separators and case differ between a provider's API, its console and its exports: `claude-3-5-sonnet`, `Claude 3.5 Sonnet`. */
const wordsOf = (name: string): string[] =>
  name
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter(Boolean);
const keyOf = (name: string): string => wordsOf(name).join('-');

const KNOWN = new Map(
  Object.entries(LEGACY_PRICES).map(([provider, prices]) => [
    provider,
    new Map(
      prices.flatMap((price) => [price.name, ...(price.aliases ?? [])].map((name) => [keyOf(name), price])),
    ),
  ]),
);

const VARIANTS = new Set(['latest', 'preview', 'free', 'beta', 'extended', 'nitro', 'floor', 'thinking']);
const isDate = (words: readonly string[]): boolean => /^20\d{6}$/.test(words.join('').slice(0, 8));

/** The name without a date or a variant at its end: `gpt-4o-2024-08-06`, `claude-3-haiku-20240307`, `gpt-4o:free`. */
function* shorterNames(name: string): Generator<string> {
  let words = wordsOf(name);
  yield words.join('-');
  for (let cut = 0; cut < 3 && words.length > 1; cut++) {
    if (VARIANTS.has(words.at(-1)!)) words = words.slice(0, -1);
    else if (words.length > 3 && isDate(words.slice(-3)) && words.at(-1)!.length <= 2)
      words = words.slice(0, -3);
    else if (words.at(-1)!.length === 8 && isDate(words.slice(-1))) words = words.slice(0, -1);
    else return;
    yield words.join('-');
  }
}

function named(provider: LegacyProvider, name: string): LegacyPrice | undefined {
  const prices = KNOWN.get(provider)!;
  for (const key of shorterNames(name)) {
    const price = prices.get(key);
    if (price) return price;
  }
  return undefined;
}

/** Words that reveal a model's purpose; the first match decides. */
const FAMILIES: readonly [OwnModel, ReadonlySet<string>][] = [
  ['embed', new Set(['embed', 'embedding', 'embeddings', 'e5', 'bge'])],
  ['deepseek-code', new Set(['code', 'coder', 'codex', 'codestral', 'devstral'])],
  [
    'fast',
    new Set([
      'mini',
      'nano',
      'haiku',
      'flash',
      'lite',
      'small',
      'tiny',
      'instant',
      'gemma',
      '3b',
      '4b',
      '7b',
      '8b',
    ]),
  ],
  ['deepseek-reason', new Set(['o1', 'o3', 'o4', 'r1', 'reasoner', 'reasoning', 'think', 'thinking'])],
];

/** The model of ours that a name resembles most; the strongest if nothing matches. */
function nearest(name: string): OwnModel {
  const words = wordsOf(name);
  return FAMILIES.find(([, family]) => words.some((word) => family.has(word)))?.[0] ?? 'qwen-pro';
}

/** Vendors whose models OpenRouter sells at their own list price. */
const RESOLD: Readonly<Record<string, LegacyProvider>> = { openai: 'openai', anthropic: 'anthropic' };

/** Price lists to look a name up in, most likely first. */
function listsOf(provider: LegacyProvider, name: string): [LegacyProvider, string][] {
  if (provider !== 'openrouter') return [[provider, name]];
  const [vendor, rest] = name.toLowerCase().split('/', 2) as [string, string?];
  // Users can enter any name, including `constructor`.
  const resold = Object.hasOwn(RESOLD, vendor) ? RESOLD[vendor] : undefined;
  if (resold && rest) return [[resold, rest]];
  return [['openrouter', name], ...Object.values(RESOLD).map((one): [LegacyProvider, string] => [one, name])];
}

/** OpenRouter's names include the vendor; users leave it out. */
const withoutVendor = (name: string): LegacyPrice | undefined =>
  LEGACY_PRICES.openrouter.find((price) => keyOf(price.name.split('/')[1]!) === keyOf(name));

function known(provider: LegacyProvider, name: string): LegacyModel | undefined {
  for (const [list, spelled] of listsOf(provider, name)) {
    const price = named(list, spelled);
    if (price) return { price, provider: list, approximate: false };
  }
  const bare = provider === 'openrouter' ? withoutVendor(name) : undefined;
  return bare && { price: bare, provider, approximate: false };
}

/** Finds a provider's model by one of its names. An unknown name gets the most similar model, never nothing. */
export function findLegacyModel(provider: LegacyProvider, name: string): LegacyModel {
  const found = known(provider, name);
  if (found) return found;
  const own = nearest(name);
  const elsewhere = LEGACY_PROVIDERS.find((one) => known(one, name) !== undefined);
  const likely = [listsOf(provider, name)[0]![0], 'openai'] as const;
  for (const list of likely) {
    const price = LEGACY_PRICES[list].find((one) => one.own === own);
    if (price) return { price, provider: list, approximate: true, elsewhere };
  }
  throw new Error(`no price replaces that of ${own}`);
}

export const sourceOf = (provider: LegacyProvider) => SOURCES[provider];

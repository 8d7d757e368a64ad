/** An element that is open, as the reader goes through a document. */
interface Open {
  name: string;
  /** Whether it is inside something clickable. */
  interactive: boolean;
}

const words = (text: string): Set<string> => new Set(text.split(' '));
const VOID = words('area base br col embed hr img input link meta source track wbr');
/** What SVG has, which closes itself: `<path …/>`. */
const SVG = words('svg path rect g line circle text title defs pattern');
/** Elements that hold words, and nothing that makes a paragraph of its own. */
const PHRASING_ONLY = words(
  'p h1 h2 h3 h4 h5 h6 span a small strong em b i code label button summary dt pre abbr time kbd option title',
);
const BLOCK = words(
  'address article aside blockquote dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td tfoot th thead tr ul',
);
const INTERACTIVE = words('a button select textarea label summary details input');
/** Which parents an element may have. */
const PARENTS: Readonly<Record<string, Set<string>>> = {
  li: words('ul ol'),
  dt: words('dl div'),
  dd: words('dl div'),
  tr: words('tbody thead tfoot'),
  td: words('tr'),
  th: words('tr'),
  tbody: words('table'),
  thead: words('table'),
  option: words('select datalist'),
  figcaption: words('figure'),
  summary: words('details'),
  legend: words('fieldset'),
};
/** Which children an element may have. */
const CHILDREN: Readonly<Record<string, Set<string>>> = {
  ul: words('li'),
  ol: words('li'),
  dl: words('div dt dd'),
  table: words('caption thead tbody'),
  tr: words('th td'),
  select: words('option'),
};

interface Element {
  name: string;
  attributes: ReadonlyMap<string, string>;
  /** For a control: whether its label encloses it. */
  isLabelled: boolean;
}

function attributesOf(text: string, faults: string[]): Map<string, string> {
  const found = new Map<string, string>();
  const rest = text.replace(/\s+([a-z][\w:-]*)(?:="([^"]*)")?/gi, (_, name: string, value = '') => {
    if (found.has(name)) faults.push(`${name} twice in <${text}>`);
    found.set(name, value as string);
    return '';
  });
  if (rest.replace(/\s*\/?$/, '').replace(/^[a-z][\w-]*/i, '') !== '') faults.push(`attributes of <${text}>`);
  return found;
}

/** Misplaced and unclosed elements. */
function readElements(html: string, faults: string[]): Element[] {
  const elements: Element[] = [];
  const open: Open[] = [];
  for (const [tag, slash, name, attributes] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b([^>]*)>/gi)) {
    if (slash) {
      const last = open.pop();
      if (last?.name !== name) faults.push(`</${name}> closes <${last?.name}>`);
      continue;
    }
    const parent = open.at(-1);
    const isPlain = !SVG.has(name!);
    if (isPlain && parent) {
      if (PHRASING_ONLY.has(parent.name) && BLOCK.has(name!)) faults.push(`<${name}> in <${parent.name}>`);
      if (open.some((one) => one.name === 'p') && BLOCK.has(name!)) faults.push(`<${name}> within <p>`);
      if (PARENTS[name!] && !PARENTS[name!]!.has(parent.name)) faults.push(`<${name}> in <${parent.name}>`);
      if (CHILDREN[parent.name] && !CHILDREN[parent.name]!.has(name!))
        faults.push(`<${name}> in <${parent.name}>`);
      if (parent.interactive && INTERACTIVE.has(name!) && !(parent.name === 'label'))
        faults.push(`${tag} in something that can be clicked`);
    }
    const known = attributesOf(`${name}${attributes}`, faults);
    elements.push({ name: name!, attributes: known, isLabelled: open.some((one) => one.name === 'label') });
    if (VOID.has(name!) || tag.endsWith('/>')) continue;
    const isInteractive = ['a', 'button', 'label', 'summary'].includes(name!);
    open.push({ name: name!, interactive: isInteractive || (parent?.interactive ?? false) });
  }
  if (open.length > 0) faults.push(`not closed: ${open.map(({ name }) => name).join(', ')}`);
  return elements;
}

/** Ids come once, and what names one names one that is there. */
function checkIds(elements: readonly Element[], faults: string[]): Set<string> {
  const ids = elements.flatMap(({ attributes }) => attributes.get('id') ?? []);
  faults.push(...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `id ${id} twice`));
  if (ids.some((id) => id === '' || /\s/.test(id))) faults.push('an invalid id');
  const known = new Set(ids);
  for (const { name, attributes } of elements) {
    for (const by of ['for', 'list', 'aria-labelledby', 'aria-describedby', 'aria-controls'])
      for (const id of (attributes.get(by) ?? '').split(' ').filter(Boolean))
        if (!known.has(id)) faults.push(`${by} of <${name}> names ${id}, which isn't there`);
    const href = attributes.get('href') ?? '';
    if (href.startsWith('#') && !known.has(href.slice(1))) faults.push(`${href} leads nowhere`);
  }
  return known;
}

/** Everything that can be used or heard has a name; headings go down one by one. */
function checkNames(elements: readonly Element[], faults: string[]): void {
  const labelled = new Set(elements.flatMap(({ attributes }) => attributes.get('for') ?? []));
  const headings = elements.flatMap(({ name }) => (/^h[1-6]$/.test(name) ? Number(name[1]) : []));
  if (headings.filter((level) => level === 1).length !== 1) faults.push('not one h1');
  headings.forEach((level, i) => {
    if (level > (headings[i - 1] ?? 0) + 1) faults.push(`h${level} after h${headings[i - 1] ?? 0}`);
  });
  for (const { name, attributes, isLabelled } of elements) {
    const isControl = ['select', 'textarea', 'input'].includes(name) && attributes.get('type') !== 'hidden';
    const has = isLabelled || attributes.has('aria-label') || labelled.has(attributes.get('id') ?? '-');
    if (isControl && !has) faults.push(`a ${name} without a label`);
    if (name === 'img' && !attributes.has('alt')) faults.push('an img without alt');
    const isRegion =
      name === 'nav' || attributes.get('role') === 'region' || attributes.get('role') === 'img';
    if (isRegion && !attributes.has('aria-label')) faults.push(`a ${name} without a name`);
    if (name === 'button' && !/^(?:button|submit)$/.test(attributes.get('type') ?? ''))
      faults.push('a button without a type');
    if (
      name === 'time' &&
      !/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)?$/.test(attributes.get('datetime') ?? '')
    )
      faults.push('a time without datetime');
  }
}

/**
 * What is wrong with a document by the rules of HTML that a page can break: nesting and closing, ids and what names them,
 * attributes, signs that aren't escaped, headings, labels, the language, and what its head needs.
 */
export function faultsOf(html: string): string[] {
  const faults: string[] = [];
  if (!/^<!doctype html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">/i.test(html))
    faults.push('its beginning');
  const text = html
    .replace(/<!doctype html>/i, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/(<(script|style)\b[^>]*>)[\s\S]*?(<\/\2>)/gi, '$1$3');
  const elements = readElements(text, faults);
  checkIds(elements, faults);
  checkNames(elements, faults);
  for (const one of ['title', 'body', 'main'])
    if (elements.filter(({ name }) => name === one).length !== 1) faults.push(`not one <${one}>`);
  const words = text.replace(/<\/?[a-z][^>]*>/gi, '');
  if (/[<]/.test(words)) faults.push('a < that is no tag');
  if (/&(?!(?:#\d+|#x[\da-f]+|[a-z]+\d*);)/i.test(text)) faults.push('an & that is not escaped');
  return faults;
}

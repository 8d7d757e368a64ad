import { readFileSync, writeFileSync } from 'node:fs';
import type { Measured } from './screens.js';
import type { Cost } from './statements.js';

/** Processor time of the database for one operation (milliseconds). */
const BOUND_MS = 200;
/** Operations below this are only counted in the document. */
const LISTED_MS = 50;
const DOCUMENT = 'docs/scaling.md';
const BEGIN = '<!-- bench:data begins -->';
const END = '<!-- bench:data ends -->';

export const sum = (costs: readonly Cost[], of: 'cpuMs' | 'buffers' | 'rows'): number =>
  costs.reduce((total, cost) => total + cost[of], 0);
const cpuMs = ({ statements }: Measured): number => sum(statements, 'cpuMs');

const exceeds = (one: Measured): boolean => one.fault !== undefined || cpuMs(one) > BOUND_MS;

const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** The statement that cost most: its time, and the tables it reads or, in full, its beginning. */
function worst(one: Measured, inFull: boolean): string {
  const most = one.statements.toSorted((a, b) => b.cpuMs - a.cpuMs)[0];
  if (one.fault !== undefined) return `failed: ${one.fault.slice(0, 200).replaceAll(/[|\s]+/g, ' ')}`;
  if (!most) return '';
  const text = most.text.replaceAll(/\s+/g, ' ').replaceAll('|', '¦').trim();
  const tables = new Set(
    [...text.matchAll(/\b(?:from|join) "?([a-z]+_[a-z_]+|accounts|prompts|widgets)\b/g)].map(
      ([, name]) => name,
    ),
  );
  const beginning = inFull ? ` \`${text.slice(0, 400)}\`` : '';
  return `${whole(most.cpuMs)} ms on ${[...tables].join(', ')}${beginning}`;
}

function row(one: Measured, inFull: boolean): string {
  const cpu = cpuMs(one);
  const cells = [
    exceeds(one) ? `**${one.name}**` : one.name,
    one.as,
    String(one.statements.length),
    exceeds(one) ? `**${whole(cpu)}**` : cpu < 10 ? cpu.toFixed(1) : whole(cpu),
    whole(sum(one.statements, 'buffers')),
    whole(sum(one.statements, 'rows')),
    worst(one, inFull),
  ];
  return `| ${cells.join(' | ')} |`;
}

const HEAD =
  '| operation | as | statements | CPU ms | buffers | rows | dearest statement |\n|---|---|---|---|---|---|---|';

/** Every operation, the dearest first. */
export const renderAll = (measured: readonly Measured[]): string =>
  [HEAD, ...byCost(measured).map((one) => row(one, true))].join('\n');

/** The dearest first; before them those that failed. */
const byCost = (measured: readonly Measured[]): Measured[] => {
  const weight = (one: Measured): number => (one.fault === undefined ? cpuMs(one) : Number.MAX_VALUE);
  return measured.toSorted((a, b) => weight(b) - weight(a));
};

/** The document's section: operations that cost something, each for the caller that costs most, and the number of the others. */
export function renderShort(measured: readonly Measured[], size: string): string {
  const dearest = new Map<string, Measured>();
  for (const one of byCost(measured)) if (!dearest.has(one.name)) dearest.set(one.name, one);
  const all = [...dearest.values()];
  const listed = all.filter((one) => one.fault !== undefined || cpuMs(one) >= LISTED_MS);
  const over = all.filter(exceeds).length;
  return [
    `${size} Each of the ${all.length} operations ran as the biggest account, as one of the median and as an administrator, where allowed;`,
    `each is listed for the caller that costs most. **Bound: ${BOUND_MS} ms; ${over} exceed it.** The other ${all.length - listed.length} operations cost less than ${LISTED_MS} ms.`,
    '',
    HEAD,
    ...listed.map((one) => row(one, false)),
  ].join('\n');
}

/** Puts a text between the markers of docs/scaling.md. */
export function writeDocument(text: string): void {
  const document = readFileSync(DOCUMENT, 'utf8');
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`${DOCUMENT} has no markers`);
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n${text}\n${END}${after}`);
}

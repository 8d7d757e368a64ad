import { randomBytes } from 'node:crypto';

/** A secret, or something about a person, that nothing else contains. */
export interface Canary {
  readonly name: string;
  readonly value: string;
  /** Whose it is: replies to others, and to strangers, must not have it. Nobody's: no reply may. */
  readonly owner: string | undefined;
}

/** Makes and keeps canaries. */
export class Aviary {
  readonly canaries: Canary[] = [];

  /** A new one: letters and digits alone, so that it looks the same however it is quoted. */
  make(name: string, owner?: string): string {
    return this.keep(name, `cnry${randomBytes(14).toString('hex')}`, owner);
  }

  /** Something that the product made. */
  keep(name: string, value: string, owner?: string): string {
    this.canaries.push({ name, value, owner });
    return value;
  }
}

/** Something found where it must not be. */
export interface Finding {
  canary: string;
  form: string;
  where: string;
  /** The text around it. */
  around: string;
}

/** Of the middle: what is left when something was cut off at either end. */
const PART = 14;

const known = new WeakMap<Canary, [string, string][]>();

/** Each canary is looked for in hundreds of texts. */
function formsOfOne(canary: Canary): [string, string][] {
  const forms = known.get(canary) ?? formsOf(canary.value);
  known.set(canary, forms);
  return forms;
}

/** The value as it is, and as it looks in encodings that logs and files use. */
function formsOf(value: string): [string, string][] {
  const bytes = Buffer.from(value);
  // Of base64 the middle is the same wherever the value begins; its edges depend on the neighbours.
  const base64 = [0, 1, 2].map((shift): [string, string] => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return ['base64', text.slice(shift === 0 ? 0 : 4, -4)];
  });
  const middle = Math.floor((value.length - PART) / 2);
  // Mail addresses and names may be stored in another case; base64 may not. Whatever has a value whole has its middle.
  return [
    ['itself or a part', value.slice(middle, middle + PART).toLowerCase()],
    ['hex', bytes.toString('hex')],
    ...base64,
  ];
}

/** Every canary in a text, in any form. */
export function findIn(text: string, canaries: readonly Canary[], where: string): Finding[] {
  const lower = text.toLowerCase();
  return canaries.flatMap((canary) => {
    for (const [form, needle] of formsOfOne(canary)) {
      const at = (form === 'base64' ? text : lower).indexOf(needle);
      if (at >= 0) {
        return [
          {
            canary: canary.name,
            form,
            where,
            around: text.slice(Math.max(0, at - 120), at + needle.length + 60),
          },
        ];
      }
    }
    return [];
  });
}

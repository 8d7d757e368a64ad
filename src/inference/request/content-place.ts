import type { JsonLevel } from '../../lib/json-strings.js';
import { readKey } from '../../lib/json-tokens.js';
import { printableName } from './body-fields.js';
import { LONGEST_KEY } from './content-names.js';

/** The name of the member that an object's level is at; undefined when it is too long for one. */
const keyOf = (body: Buffer, { keyStart, keyEnd }: JsonLevel): string | undefined =>
  keyEnd - keyStart > LONGEST_KEY ? undefined : readKey(body, keyStart, keyEnd);

/** The place of a value, such as `[0].content`. */
export const pathOf = (body: Buffer, levels: readonly JsonLevel[]): string =>
  levels
    .map((level) => (level.isObject ? `.${printableName(keyOf(body, level) ?? '')}` : `[${level.index}]`))
    .join('');

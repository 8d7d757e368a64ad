import { AppError } from '../errors.js';

/**
 * Refuses a change that is based on outdated values, such as one from a browser tab that has been open for long.
 * @param expected the values on which the change is based; undefined ones are ignored.
 * @param current the current values, in the same form, under a lock that the change holds.
 * @throws AppError `changed_meanwhile`
 */
export function requireExpected<Name extends string>(
  expected: { readonly [Field in Name]?: unknown },
  current: { readonly [Field in Name]: unknown },
): void {
  for (const [name, value] of Object.entries(expected)) {
    if (value === undefined) continue;
    const now = current[name as Name];
    if (JSON.stringify(value) !== JSON.stringify(now)) throw new AppError('changed_meanwhile');
  }
}

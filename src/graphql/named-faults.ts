import type { z } from 'zod';
import { AppError } from '../errors.js';
import { ofWholeInput } from '../lib/field-issues.js';

/**
 * Runs a resolver whose errors name only fields that its caller can see. Services name fields as REST does, where a
 * change may have fields that a mutation fills in itself: an error of such a field becomes one of the whole input.
 */
export const withNamedFaults =
  <Args extends unknown[]>(schema: z.ZodObject | undefined, run: (...args: Args) => unknown) =>
  async (...args: Args): Promise<unknown> => {
    try {
      return await run(...args);
    } catch (error) {
      throw error instanceof AppError ? inFieldsOf(schema?.shape ?? {}, error) : error;
    }
  };

function inFieldsOf(shape: object, error: AppError): AppError {
  const { code, message, options } = error;
  if (code !== 'validation_error' || !options.details) return error;
  const details = options.details.flatMap((issue) =>
    Object.hasOwn(shape, issue.field.split('.', 1)[0]!) ? issue : ofWholeInput(issue.message),
  );
  return new AppError(code, { ...options, message, details });
}

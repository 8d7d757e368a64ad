import { z } from 'zod';

/** An id. Its format isn't checked on output, so that an odd row is returned instead of a 500. */
export const uuid = (description: string) => z.string().meta({ description, format: 'uuid' });

export const decimal = (description: string) =>
  z.string().meta({
    description: `${description} Exact decimal string with 6 to 12 decimal places.`,
    format: 'decimal',
  });

/** A time in UTC with microseconds. */
export const timestamp = (description: string) =>
  z.string().meta({ description: `${description} UTC, with microseconds.`, format: 'date-time' });

/** A whole number that may exceed the 32 bits of GraphQL's Int. */
export const count = (description: string) => z.int().meta({ description, format: 'int64' });

import { z } from 'zod';

/** An id. Its form isn't checked on output, so an odd row is still returned rather than answered with 500. */
export const uuid = (description: string) => z.string().meta({ description, format: 'uuid' });

/** An exact decimal in a string. */
export const decimal = (description: string) =>
  z.string().meta({
    description: `${description} Exact decimal string with 6 to 12 decimal places.`,
    format: 'decimal',
  });

/** A time in UTC with six digits. */
export const timestamp = (description: string) =>
  z.string().meta({ description: `${description} UTC, with microseconds.`, format: 'date-time' });

/** A whole number that may exceed 32 bits, which is all that GraphQL's Int holds. */
export const count = (description: string) => z.int().meta({ description, format: 'int64' });

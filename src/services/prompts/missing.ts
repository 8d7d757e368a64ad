import type { AppError } from '../../errors.js';
import { notFound } from '../not-found.js';

export const noPrompt = (): AppError => notFound('prompt', { by: 'ID or slug' });

/** Callers name a version by its id, or by its number within the prompt. */
export const noVersion = (which: { id: string } | { version: number }): AppError =>
  notFound('prompt version', { by: 'version' in which ? 'number' : 'ID' });

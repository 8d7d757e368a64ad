import { asOwnWork } from '../../lib/work-owner.js';
import type { ServiceDeps } from '../deps.js';

const CACHE_MS = 5 * 60_000;

/** Answers made from roll-ups of models: kept for five minutes, and no longer than until the next roll-up. */
export function createFiguresCache({ clock, signals }: Pick<ServiceDeps, 'clock' | 'signals'>) {
  /** By what was asked, with the time they were begun. */
  const cache = new Map<string, { at: number; answer: Promise<unknown> }>();
  signals.onModelHours(() => cache.clear());
  return {
    /** The answer to a question, of which there are few: it is read for everybody. One that failed isn't kept. */
    cached<T>(question: string, read: () => Promise<T>): Promise<T> {
      const known = cache.get(question);
      const age = known && clock.now() - known.at;
      if (age !== undefined && age >= 0 && age < CACHE_MS) return known!.answer as Promise<T>;
      const entry = { at: clock.now(), answer: asOwnWork(read) };
      cache.set(question, entry);
      entry.answer.catch(() => {
        if (cache.get(question) === entry) cache.delete(question);
      });
      return entry.answer;
    },
    clear: () => cache.clear(),
  };
}

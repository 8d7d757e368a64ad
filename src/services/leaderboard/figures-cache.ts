import { asOwnWork } from '../../lib/work-owner.js';
import type { ServiceDeps } from '../deps.js';

const CACHE_MS = 5 * 60_000;

/** Caches responses made from roll-ups of models for five minutes, at most until the next roll-up. */
export function createFiguresCache({ clock, signals }: Pick<ServiceDeps, 'clock' | 'signals'>) {
  /** Responses by question, with the time when their reading began. */
  const cache = new Map<string, { at: number; answer: Promise<unknown> }>();
  signals.onModelHours(() => cache.clear());
  return {
    /** The response to one of few possible questions, read once for everybody. Failures aren't cached. */
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

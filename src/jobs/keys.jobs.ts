import { type ResealDeps, type ResealResult, resealAll } from '../services/keys/reseal.service.js';
import { type JobDefinition, scheduled } from './kit.js';

/** Re-encrypts values after a rotation of ENCRYPTION_KEY. */
export function resealJob(
  deps: ResealDeps,
  report: (old: Pick<ResealResult, 'left' | 'unreadable'>) => void,
): JobDefinition {
  return scheduled('reseal', '1 hour', async (context) => {
    const { resealed, left, unreadable } = await resealAll(context, deps);
    report({ left, unreadable });
    const counts = { resealed, left, unreadable };
    if (unreadable > 0) {
      context.log.warn(
        counts,
        "some values can't be decrypted with any known ENCRYPTION_KEY: set ENCRYPTION_KEY_PREVIOUS",
      );
    } else if (resealed + left > 0) {
      context.log.info(counts, 're-encrypted values; ENCRYPTION_KEY_PREVIOUS can be removed when left is 0');
    }
  });
}

import { DeadlockException } from '@mikro-orm/core';
import { toAppError } from '../../src/lib/to-app-error.js';

describe('what a thrown error is told as', () => {
  test('a deadlock is over at once, so the request may be repeated', () => {
    const ended = new DeadlockException(Object.assign(new Error('deadlock detected'), { code: '40P01' }));
    expect(toAppError(ended)).toMatchObject({
      code: 'service_unavailable',
      options: { retryAfterSeconds: 2, cause: ended },
    });
  });

  test.each([new Error('something else'), undefined, null, 'text'])('%s is our fault', (thrown) => {
    expect(toAppError(thrown).code).toBe('internal_error');
  });
});

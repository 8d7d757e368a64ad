import { DeadlockException } from '@mikro-orm/core';
import { toAppError } from '../../src/lib/to-app-error.js';

describe('the error shown for a thrown error', () => {
  test('allows a retry after a deadlock', () => {
    const ended = new DeadlockException(Object.assign(new Error('deadlock detected'), { code: '40P01' }));
    expect(toAppError(ended)).toMatchObject({
      code: 'service_unavailable',
      options: { retryAfterSeconds: 2, cause: ended },
    });
  });

  test.each([new Error('something else'), undefined, null, 'text'])('is internal_error for %s', (thrown) => {
    expect(toAppError(thrown).code).toBe('internal_error');
  });
});

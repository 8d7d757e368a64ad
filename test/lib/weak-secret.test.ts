import { createHash } from 'node:crypto';
import { isWeakSecret } from '../../src/lib/weak-secret.js';

describe('a secret that can be guessed', () => {
  test.each([
    'changeme',
    'change_me_change_me_change_me_change_me',
    'your-secret-key-change-in-production',
    'your-secret-key-here-at-least-32-characters',
    'YourSuperSecretKeyHere',
    'supersecretsupersecretsupersecret',
    'my-super-secret-jwt-key-which-is-very-long-1',
    'secret-for-development-only-not-for-production',
    'ThisIsAVeryLongSecretKeyForTesting',
    'password12345678password12345678',
    'sk-1234',
    'sk-master-key-1234567890-1234567890',
    'jwt-secret-of-the-tests-0123456789abcdef',
    'keyboard cat keyboard cat keyboard cat',
    '0123456789abcdef0123456789abcdef',
    'abcdefghijklmnopqrstuvwxyz0123456789',
    'ZYXWVUTSRQPONMLKJIHGFEDCBA9876543210',
    '12345678901234567890123456789012',
    'a'.repeat(64),
    'deadbeefdeadbeefdeadbeefdeadbeef',
    'q7Zp0s9dKxL2q7Zp0s9dKxL2q7Zp0s9dKxL2q7Zp',
    'qwertyuiopasdfghjklzxcvbnm-qwertyuiop',
  ])('is %s', (secret) => expect(isWeakSecret(secret)).toBe(true));

  test.each([
    'devK3r9ZpQ7xLm2VnB4cYwR8tEhJ6uGfA1iOz',
    'test-9f86d081884c7d659a2feaa0c55ad015',
    'secret_q7Zp0s9dKxL2mVnB4cYwR8tEhJ6uGfA',
    'changeme-q7Zp0s9dKxL2mVnB4cYwR8tEhJ6uGfA1',
    'sk-1234q7Zp0s9dKxL2mVnB4cYwR8tEhJ6uGfA1iOz',
    'marble otter quilt vinegar trombone sleet',
  ])('is not %s', (secret) => expect(isWeakSecret(secret)).toBe(false));

  test('is never a generated one, in any of the usual formats', () => {
    // The same in each run, since one in some millions may count as weak.
    const wrong = Array.from({ length: 5_000 }, (_, i) => createHash('sha256').update(`draw ${i}`).digest())
      .flatMap((drawn) => [
        drawn.toString('base64'),
        drawn.toString('base64url'),
        drawn.toString('hex'),
        drawn.toString('hex').slice(0, 32),
        drawn.toString('base64').slice(0, 32),
      ])
      .filter((text) => isWeakSecret(text) || isWeakSecret(`test${text}`) || isWeakSecret(`dev-${text}`));
    expect(wrong).toEqual([]);
  });
});

import { KNOWN_PASSWORDS } from '../../src/services/accounts/known-passwords.data.js';
import { refuseKnownPassword } from '../../src/services/accounts/known-passwords.js';

/** Made of common parts, but not on the list; what people and password managers make; what tests of callers may use. */
const FINE = [
  'secret123', 'password1234', 'testing123', 'changeme123', 'pass12345', 'user1234', 'Password1!', 'helloworld', 'Welcome1!',
  'Password123!', 'Passw0rd!', 'Test1234!', 'Secret123!', 'Welcome2024!', 'summer2025', 'admin1234', 'P4$$w0rd1',
  'TestPassword123!', 'SuperSecret123!', 'S3cure!Pass', 'Str0ngPassw0rd!', 'ValidPass123!', 'test-password-123',
  'correct horse battery staple', 'kJ8#mQ2$vL', 'tr0ub4dor&3', 'a1b2c3d4-e5f6', 'hunter2-hunter2', 'my dog is 7',
  'a'.repeat(8), 'a'.repeat(128), 'password'.repeat(16), 'пароль-пароль', '密码密码密码密码一二三四',
]; // biome-ignore format: a table

describe('known passwords', () => {
  const isRefused = (password: string): boolean => {
    try {
      refuseKnownPassword(password, 'password');
      return false;
    } catch {
      return true;
    }
  };

  test('are refused: the 3,000 of a public list, in any case', () => {
    expect(new Set(KNOWN_PASSWORDS).size).toBe(3_000);
    expect(KNOWN_PASSWORDS.slice(0, 3)).toEqual(['password', '12345678', '123456789']);
    expect(KNOWN_PASSWORDS.filter(({ length }) => length < 8)).toEqual([]);
    expect(KNOWN_PASSWORDS.filter((password) => !isRefused(password))).toEqual([]);
    expect(KNOWN_PASSWORDS.filter((password) => !isRefused(password.toUpperCase()))).toEqual([]);
  });

  test.each(['00000000', '87654321', '987654321', '123123123'])('are refused: %s', (password) => {
    expect(isRefused(password)).toBe(true);
  });

  test('include no others, whatever they consist of', () => {
    expect(FINE.filter(isRefused)).toEqual([]);
  });
});

import { addressIn, newAccount } from '../accounts.js';
import { type Attack, repeatedly, strike } from '../attack.js';

const SIGN_UPS = 300;
const AT_ONCE = 8;
const PAUSE_MS = 5_000;
const BLOCK = 36;

/** 300 sign-ups with a mail that is taken, all from one network; then from the next. */
export const takenMails: Attack = async (target) => {
  const { email } = await newAccount(target.url, addressIn(BLOCK, 0));
  return () =>
    repeatedly(target, PAUSE_MS, async (round) => {
      let left = SIGN_UPS;
      const stranger = async (): Promise<void> => {
        while (left-- > 0 && !target.over()) {
          const body = { email, password: 'an attacker of the load', name: 'Eve' };
          await strike(
            target,
            'sign-ups with a taken mail',
            addressIn(BLOCK, round),
            ['POST', '/api/auth/signup'],
            {
              body,
            },
          );
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, stranger));
    });
};

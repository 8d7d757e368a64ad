import type { Attack, Target } from './attack.js';
import { guesses } from './attacks/guesses.js';
import { hangingWebhooks } from './attacks/hanging-webhooks.js';
import { largeTenant } from './attacks/large-tenant.js';
import { lockOuts } from './attacks/lock-outs.js';
import { loginFlood } from './attacks/login-flood.js';
import { refusedBodies } from './attacks/refused-bodies.js';
import { slowMails } from './attacks/slow-mails.js';
import { strangersMails } from './attacks/strangers-mails.js';
import { subscriptions } from './attacks/subscriptions.js';
import { takenMails } from './attacks/taken-mails.js';
import { unreadPages } from './attacks/unread-pages.js';
import { serveOrders, startEffort } from './child.js';
import type { Attacked, AttackOrder } from './messages.js';

/** All attackers at once, with free accounts or none, in a separate process. */
const ATTACKS: Record<string, Attack> = {
  hangingWebhooks,
  slowMails,
  strangersMails,
  guesses,
  loginFlood,
  takenMails,
  lockOuts,
  largeTenant,
  subscriptions,
  unreadPages,
  refusedBodies,
};
/** To run some of them only: `FAIRNESS_ATTACKS=loginFlood,guesses`. */
const chosen = process.env.FAIRNESS_ATTACKS?.split(',') ?? Object.keys(ATTACKS);

const tally: Attacked['tally'] = {};
let over = false;
const brokeOff: string[] = [];
let ready: (() => Promise<unknown>)[] = [];
let running: Promise<unknown> = Promise.resolve();
let began = 0;
let effort = startEffort();

serveOrders({
  async prepare(order: AttackOrder) {
    const target: Target = {
      ...order,
      over: () => over,
      count(attack, outcome) {
        tally[attack] ??= {};
        tally[attack][outcome] = (tally[attack][outcome] ?? 0) + 1;
      },
    };
    ready = await Promise.all(chosen.map((name) => ATTACKS[name]!(target)));
  },
  async begin() {
    began = performance.now();
    effort = startEffort();
    const run = (attack: () => Promise<unknown>) =>
      attack().catch((error: unknown) => void brokeOff.push(String(error)));
    running = Promise.all(ready.map(run));
  },
  async end() {
    over = true;
    const seconds = (performance.now() - began) / 1_000;
    const used = effort();
    await running;
    return { seconds, tally, brokeOff, effort: used } satisfies Attacked;
  },
});

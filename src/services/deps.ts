import type { Config } from '../config.js';
import type { ModelRoutes } from '../inference/model-routes.js';
import type { Clock } from '../lib/clock.js';
import type { Envelope } from '../lib/crypto.js';
import type { Egress } from '../lib/egress/egress.js';
import type { Passwords } from './accounts/passwords.js';
import type { Pseudonyms } from './accounts/pseudonyms.rules.js';
import type { AskRouting } from './admin/routing.js';
import type { VirtualKeyClient } from './keys/virtual-keys.js';
import type { Signals } from './live/signals.js';
import type { Playground } from './playground/open-playground.js';

/** What services depend on. Each factory receives all of it and picks what it needs. */
export interface ServiceDeps {
  config: Config;
  clock: Clock;
  envelopes: {
    /** Upstream virtual keys. */
    virtualKey: Envelope;
    /** The data key of each account. */
    dataKey: Envelope;
    /** What signs the deliveries of one webhook subscription. */
    alertSecret: Envelope;
  };
  passwords: Passwords;
  /** HMACs of email addresses and networks, under the key in the database. */
  pseudonyms: Pseudonyms;
  virtualKeys: VirtualKeyClient;
  /** What is known about the models that can be called. */
  modelRoutes: Pick<ModelRoutes, 'simulated'>;
  askRouting: AskRouting;
  /** Returns the fault in a URL that a customer entered. */
  egress: Pick<Egress, 'checkDestination'>;
  /** Live signals from other processes. */
  signals: Signals;
  /** Makes the runs of the model playground. */
  playground: Pick<Playground, 'runner' | 'mirrors'>;
}

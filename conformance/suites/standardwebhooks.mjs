import { Webhook } from 'standardwebhooks';
import { verifies } from '../lib/webhooks.mjs';

export const run = (checks, product) => verifies(checks, product, Webhook);

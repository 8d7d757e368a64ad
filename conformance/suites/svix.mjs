import { Webhook } from 'svix';
import { verifies } from '../lib/webhooks.mjs';

export const run = (checks, product) => verifies(checks, product, Webhook);

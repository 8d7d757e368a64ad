import type { SitePage } from '../site.js';
import { code, docsPage, paragraph, type Section, table } from './html.js';
import { nodeReceiver, pythonReceiver } from './webhook-examples.js';

const event: Section = {
  id: 'event',
  title: 'The event',
  body: [
    paragraph(
      'When a key’s spend reaches one of the percentages in a subscription, the service sends a POST request with this body to the subscription’s URL. Each percentage fires once per key and month (UTC).',
    ),
    code(`{
  "type": "spend.threshold",
  "key_id": "019aa7c1-5f0e-7cc3-98c1-1a2b3c4d5e6f",
  "key_prefix": "sk-pr-Ab3d…x9Zk",
  "threshold_pct": 80,
  "billing_month": "2026-11",
  "mtd_spend_usd": "8.012345",
  "monthly_limit_usd": "10.000000",
  "fired_at": "2026-11-21T08:55:57.123000Z"
}`),
    paragraph(
      'Amounts are exact decimals in strings. The body is sent without whitespace, with the fields in this order, and is byte-for-byte the same in every attempt. If the guard of the key acted, `guard` follows with its `action` (`disable`, `slow` or `fallback_model`) and `model_public_name` (null unless it is `fallback_model`); `threshold_pct` is then the guard’s percentage. A test has `"test": true` as its last field. Ignore unknown fields: more may be added.',
    ),
  ].join(''),
};

const headers: Section = {
  id: 'headers',
  title: 'Headers',
  body: table(
    ['header', 'value'],
    [
      ['`Content-Type`', '`application/json`'],
      ['`User-Agent`', '`Gateway-Webhook/1.0`'],
      ['`X-Gateway-Event`', '`spend.threshold`'],
      [
        '`X-Gateway-Signature`',
        '`sha256=` followed by the HMAC-SHA-256 of the body in hex, keyed with the webhook secret of this installation, which its operator sets',
      ],
      ['`webhook-id`', 'the alert event ID, the same in every attempt'],
      ['`webhook-timestamp`', 'Unix time of this attempt, in seconds'],
      [
        '`webhook-signature`',
        '`v1,` followed by the HMAC-SHA-256 of `id.timestamp.body` in base64, keyed with the signing secret of your subscription. After a rotation there are two signatures, separated by a space',
      ],
    ],
  ),
};

const verifying: Section = {
  id: 'verifying',
  title: 'Verifying',
  body: [
    paragraph(
      'Verify `webhook-signature`. Its secret (`whsec_…`, shown when you create the subscription) is unique to your subscription, and the signature covers the ID and the timestamp as well as the body. It follows the Standard Webhooks specification, so you can use any of its libraries. The secret for `X-Gateway-Signature` is shared by the whole installation and doesn’t cover the timestamp: verify it in addition if your operator gave it to you, but don’t rely on it alone.',
    ),
    paragraph(
      'Follow four rules: verify the raw bytes, before a framework parses them; compare in constant time; reject timestamps more than five minutes off; and ignore IDs you have already processed, because a delivery can arrive twice.',
    ),
    paragraph('In Node:'),
    code(nodeReceiver),
    paragraph('In Python:'),
    code(pythonReceiver),
  ].join(''),
};

const delivery: Section = {
  id: 'delivery',
  title: 'Delivery',
  body: [
    table(
      ['your response', 'what happens'],
      [
        ['2xx', 'delivered; only the status counts, and at most 64 KiB of the response are read'],
        ['3xx', 'failed: redirects are not followed'],
        ['4xx', 'failed, not retried'],
        ['410', 'failed, and the subscription is turned off; its other pending alerts fail unsent'],
        [
          '5xx, no connection, or no response within 5 seconds',
          'retried after 0.5 and 1.5 seconds, three attempts in total',
        ],
      ],
    ),
    paragraph(
      'The five seconds cover everything: DNS, connection, TLS, headers and body. Respond first and process the event afterwards. The key’s alert events show the outcome of each delivery: `sent`, `failed` with a reason, or briefly `pending`. If one of our processes stops during a delivery, another continues it within a minute, with the same ID and the remaining attempts. After an attempt that took two seconds or more, the next one waits for its turn among your other alerts, so it can come later.',
    ),
    paragraph(
      'An account has up to 16 deliveries in progress, at most 4 of them to one receiver. While your receivers take longer than two seconds to respond, this drops to as few as one. At most 300 alerts per hour are delivered. Disabled accounts send no alerts.',
    ),
  ].join(''),
};

const destinations: Section = {
  id: 'destinations',
  title: 'Destinations',
  body: paragraph(
    'The URL must use `http` or `https`, port 80, 443 or a port from 1024 up that browsers allow, must not contain a username, and its host must resolve only to addresses on the public internet. This is checked when the subscription is saved and before each attempt. For development, `WEBHOOK_ALLOW_PRIVATE=1` allows this machine and private networks.',
  ),
};

/** The guide to webhooks. */
export const webhooksGuide = (): SitePage =>
  docsPage(
    '/docs/webhooks',
    'Webhooks',
    'Get notified when a key reaches a percentage of its monthly limit.',
    [event, headers, verifying, delivery, destinations],
  );

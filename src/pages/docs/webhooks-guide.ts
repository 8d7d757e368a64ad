import type { SitePage } from '../site-page.js';
import { code, docsPage, paragraph, type Section, table } from './html.js';
import { nodeReceiver, pythonReceiver } from './webhook-examples.js';

const event: Section = {
  id: 'event',
  title: 'The event',
  body: [
    paragraph(
      'When a key has spent a percentage of its monthly limit that a subscription lists, the subscription’s URL gets a POST with this body. Each percentage fires once per key and month (UTC).',
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
      'Amounts are exact decimals in strings. It is sent without spaces, in this order, and as the same bytes in every attempt. A test that you ask for carries `"test": true` at its end. Ignore fields that you don’t know: there may be more one day.',
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
        '`sha256=` and the HMAC-SHA-256 of the body in hex, keyed with the secret of this installation, which its operator knows',
      ],
      ['`webhook-id`', 'id of the delivery, that of the alert event: the same in every attempt'],
      ['`webhook-timestamp`', 'time of this attempt, in seconds since 1970'],
      [
        '`webhook-signature`',
        '`v1,` and the HMAC-SHA-256 of `id.timestamp.body` in base64, keyed with the secret of your subscription; several of them, with spaces between, while the secret changes',
      ],
    ],
  ),
};

const verifying: Section = {
  id: 'verifying',
  title: 'Verifying',
  body: [
    paragraph(
      'Check `webhook-signature`: its secret (`whsec_…`, shown when the subscription is made) is yours alone, and id and time are signed with the body. The form is that of Standard Webhooks, whose libraries read it as well. The secret behind `X-Gateway-Signature` is one for the whole installation: check it on top if your operator gave it to you, but not alone, since it says nothing about time.',
    ),
    paragraph(
      'Four rules: take the bytes before a framework parses them; compare in constant time; refuse what is older or newer than five minutes; drop an id that you have had, since a delivery may come twice.',
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
      ['your answer', 'what happens'],
      [
        ['2xx', 'delivered. The status line decides; of the rest at most 64 KiB are read'],
        ['3xx', 'failed: redirects are not followed'],
        ['4xx', 'failed, no other attempt'],
        ['410', 'failed, and the subscription is switched off'],
        [
          '5xx, no connection, no answer within 5 seconds',
          'another attempt, three in all, after 0.5 and 1.5 seconds',
        ],
      ],
    ),
    paragraph(
      'Five seconds are for everything: name, connection, TLS, headers and body. Answer first and work afterwards. What came of a delivery stands in the key’s alert events: `sent`, `failed` with a reason, or `pending` for a moment. Should a process of ours die in the middle, the delivery goes on within a minute, with the same id and the attempts that are left.',
    ),
    paragraph(
      'Deliveries are shared out by account: up to 16 at once, 4 of them to one receiver. While your receivers take longer than two seconds to answer you get fewer, down to one. At most 300 alerts an hour are delivered. Nothing is sent for an account that is disabled.',
    ),
  ].join(''),
};

const destinations: Section = {
  id: 'destinations',
  title: 'Destinations',
  body: paragraph(
    'A URL with `http` or `https`, port 80, 443 or one from 1024 up that browsers allow, no user name in it, and a host whose addresses are all on the public internet. That is checked when it is saved and again for each attempt. For development `WEBHOOK_ALLOW_PRIVATE=1` lets webhooks reach this machine and private networks.',
  ),
};

/** The page on webhooks: what a receiver has to know. */
export const webhooksGuide = (): SitePage =>
  docsPage('/docs/webhooks', 'Webhooks', 'Told when a key has spent a percentage of its monthly limit.', [
    event,
    headers,
    verifying,
    delivery,
    destinations,
  ]);

import { randomUUID } from 'node:crypto';
import { accessOf } from '../../src/graphql/access.js';
import { createSchema } from '../../src/graphql/schema.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { callOf, eventsOf, limitKey, subscribe } from '../alerts/support.js';
import { writeSession } from '../playground/support.js';
import { call, PASSWORD, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { fieldDocuments } from './fields.js';
import { codesOf, dataOf, follow, operate, socketClient } from './support.js';

const WHOLE = `{ viewer {
  id email name role status createdAt planId balanceUsd plan { name }
  apiKeys { nodes { id name keyPrefix lastFour status monthlyLimitUsd dailyLimitUsd spendMonthUsd
    alerts { id destination thresholdsPct active updatedAt } } }
  playgroundSessions { id prompt shared shareSlug runs { id status } }
  alertEvents { nodes { id deliveryStatus attempts destination } } lowBalanceThresholdUsd
  widgets { id publicKey name systemPrompt }
  prompts(first: 20) { nodes { id name revision activeVersion { id content } } }
  ledgerEntries { nodes { id amountUsd } } usageEvents { nodes { id } } } }`;

const REFUSED_TOKENS = ['an API key', 'a forged token', 'a disabled account', 'an ended session'];

describe('the objects of an account', () => {
  const suite = usePlatform();
  let ada: { token: string; user: { id: string } };
  let adaKey: { keyId: string; key: string };
  const mail = `ada-canary-${randomUUID()}@example.com`;
  /** Words that stand in Ada's data and nowhere else. */
  let canaries: string[];
  const schema = createSchema();
  let key = '';
  let account = '';
  let alert = '';
  let event = '';
  let prompt = '';
  let version = '';
  let session = '';
  let widget = '';

  /** Whoever asks, asks for what is Ada's. */
  const documents = () =>
    fieldDocuments(schema, (owner, argument) => {
      if (argument === 'keyId') return JSON.stringify(key);
      if (argument === 'sessionId' || (argument === 'id' && /playground/i.test(owner))) {
        return JSON.stringify(session);
      }
      if (argument === 'eventId') return JSON.stringify(event);
      if (argument === 'promptId' || (argument === 'id' && /rompt/.test(owner)))
        return JSON.stringify(prompt);
      if (argument === 'id' && /idget/.test(owner)) return JSON.stringify(widget);
      if (argument === 'modelPublicName' && owner === 'createWidget') return '"gateway/fast"';
      // Given, with what it needs.
      if (argument === 'guard') return '';
      if (argument === 'versionId') return JSON.stringify(version);
      if (argument === 'name' && owner === 'updatePrompt') return '"stolen"';
      if (argument === 'model') return '"gateway/fast"';
      if (argument === 'id' && /Alert/.test(owner)) return JSON.stringify(alert);
      if (argument === 'id') return JSON.stringify(/User/.test(owner) ? account : key);
      if (/^(dailyLimit|hourlyCost|amount)Usd$/.test(argument) && owner !== 'topUp') return '"1.5"';
      if (argument === 'active') return 'false';
      if (argument === 'email') {
        return JSON.stringify(owner === 'signup' ? `${randomUUID()}@example.com` : mail);
      }
      if (argument === 'newPassword' || (owner === 'signup' && argument === 'password')) {
        return JSON.stringify(`${PASSWORD} 2`);
      }
      return argument === 'password' || argument === 'currentPassword' ? '"not the password"' : undefined;
    });

  beforeAll(async () => {
    ada = await signUp(suite.url, { email: mail, name: 'Ada Canary' });
    account = ada.user.id;
    adaKey = await createTestKey(suite.db, { accountId: account });
    key = adaKey.keyId;
    await suite.db.pool.query(`update api_keys set name = 'key-canary' where id = $1`, [key]);
    const payer = { accountId: account, keyId: key };
    alert = await subscribe(suite.db.pool, payer, [1], { destination: 'https://alert-canary.example.com' });
    await limitKey(suite.db.pool, payer, 1);
    await flushBatch(suite.db.pool, [callOf(payer, 2)]);
    event = (await eventsOf(suite.db.pool, payer))[0]!.id;
    const saved = await call<{ id: string; active_version_id: string }>(suite.url, 'POST', '/api/prompts', {
      token: ada.token,
      body: { name: 'prompt-canary', content: 'content-canary' },
    });
    prompt = saved.body.id;
    version = saved.body.active_version_id;
    const made = await call<{ id: string }>(suite.url, 'POST', '/api/widgets', {
      token: ada.token,
      body: { name: 'widget-canary', model_public_name: 'gateway/fast', system_prompt: 'content-canary' },
    });
    widget = made.body.id;
    session = await writeSession(suite.db.pool, account, 'prompt-canary');
    canaries = [
      'prompt-canary',
      'content-canary',
      mail,
      'Ada Canary',
      'key-canary',
      'widget-canary',
      adaKey.key,
      'alert-canary',
    ];
  });

  const protectedFields = () =>
    documents().filter(({ root, kind }) => accessOf(root) !== 'public' && kind !== 'subscription');
  const showsNothing = (text: string): void =>
    expect(canaries.filter((canary) => text.includes(canary))).toEqual([]);

  test('are more than a hundred fields, so that the matrix really exists', () => {
    expect(documents().length).toBeGreaterThan(100);
    expect(protectedFields().length).toBeGreaterThan(80);
  });

  test.each([
    ['somebody without a session', async () => undefined],
    ['an API key', async () => adaKey.key],
    ['a forged token', async () => `${ada.token.slice(0, -4)}AAAA`],
    [
      'a disabled account',
      async () => {
        const { token, user } = await signUp(suite.url);
        await suite.db.pool.query(`update accounts set status = 'disabled' where id = $1`, [user.id]);
        return token;
      },
    ],
    [
      'an ended session',
      async () => {
        const { token } = await signUp(suite.url);
        await dataOf(suite.url, 'mutation { logout { success } }', { token });
        return token;
      },
    ],
  ])('return unauthorized to %s, field by field', async (who, tokenOf) => {
    const token = await tokenOf();
    // Who asks is found out before any field is: the tokens share the fields among them.
    const part = REFUSED_TOKENS.indexOf(who);
    const fields = protectedFields().filter((_field, i) => part < 0 || i % REFUSED_TOKENS.length === part);
    for (const { name, document } of fields) {
      const answer = await operate(suite.url, document, token === undefined ? {} : { token });
      expect([name, codesOf(answer)]).toEqual([name, ['unauthorized']]);
      expect([name, Object.values(answer.body.data ?? {})]).toEqual([name, answer.body.data ? [null] : []]);
      showsNothing(answer.text);
    }
  });

  test('are hidden from another account, field by field, whatever IDs it names', async () => {
    const before = await dataOf(suite.url, WHOLE, { token: ada.token });
    let bob = await signUp(suite.url);
    for (const { name, document, root, kind } of documents().filter(({ kind }) => kind !== 'subscription')) {
      const answer = await operate(suite.url, document, { token: bob.token });
      showsNothing(answer.text);
      const named = [key, alert, event, prompt, version, session, widget].some((id) => document.includes(id))
        ? ['not_found']
        : [];
      if (accessOf(root) === 'admin') expect([name, codesOf(answer)]).toEqual([name, ['forbidden']]);
      else if (named.length > 0) expect([name, codesOf(answer)]).toEqual([name, named]);
      // Some of what Bob may change ends his own session.
      if (kind === 'mutation' && codesOf(answer).length === 0) bob = await signUp(suite.url);
    }
    expect(await dataOf(suite.url, WHOLE, { token: ada.token })).toEqual(before);
  }, 120_000);

  test('send no live events without a session', async () => {
    const subscriptions = documents().filter(({ kind }) => kind === 'subscription');
    expect(subscriptions.length).toBeGreaterThan(0);
    for (const token of [undefined, adaKey.key, 'nonsense']) {
      const client = socketClient(suite.url, token === undefined ? {} : { token });
      const followed = follow(client, subscriptions[0]!.document);
      await until(() => followed.ended, { what: 'the end of the connection' });
      expect(followed.error).toMatchObject({ code: 4403 });
      expect(followed.results).toEqual([]);
    }
  });
});

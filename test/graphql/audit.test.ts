import { serverAudits } from 'graphql-http';
import { usePlatform } from '../support/platform-suite.js';

describe('GraphQL over HTTP', () => {
  const suite = usePlatform();
  const audits = serverAudits({ url: () => `${suite.url}/graphql` });

  test('passes the audit of the GraphQL over HTTP specification', () => {
    expect(audits.length).toBeGreaterThan(60);
  });

  test.each(
    audits.filter(({ name }) => !name.startsWith('MAY ')).map((audit) => [audit.name, audit] as const),
  )('%s', async (_name, audit) => {
    const result = await audit.fn();
    expect('reason' in result ? result.reason : result.status).toBe('ok');
  });
});

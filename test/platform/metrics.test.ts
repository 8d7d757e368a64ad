import { createRegistry } from '../../src/lib/metrics.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

describe('the metrics of the platform', () => {
  const registry = createRegistry('test');
  const suite = usePlatform({ registry });

  test('count requests by route, not by path, and errors by code', async () => {
    const { token } = await signUp(suite.url);
    for (const id of ['one', 'two']) {
      await call(suite.url, 'PATCH', `/api/admin/users/${id}`, { token, body: {} });
    }
    await call(suite.url, 'GET', '/api/no/such/path');
    const text = await registry.metrics();
    const line = (start: string) => text.split('\n').find((entry) => entry.startsWith(start));
    const users = '{method="PATCH",route="/api/admin/users/:id"';
    expect(line(`platform_requests_total${users},status="403"`)).toMatch(/ 2$/);
    expect(line(`platform_request_duration_seconds_count{`)).toBeDefined();
    expect(line('platform_errors_total{code="forbidden"')).toMatch(/ 2$/);
    expect(line('platform_requests_total{method="GET",route="none",status="404"')).toMatch(/ 1$/);
    expect(text).not.toMatch(/such|\/one|\/two/);
  });
});

import { curl } from './curl.js';
import { FAST, useClients } from './support.js';

const suite = useClients();
const JSON_TYPE = ['-H', 'Content-Type: application/json'];
const bearer = (value = suite.user.key): string[] => ['-H', `Authorization: Bearer ${value}`];
const chatUrl = (): string => `${suite.baseUrl}/chat/completions`;
const question = (content = `${FAST} Hello`) =>
  JSON.stringify({ model: 'gateway/fast', messages: [{ role: 'user', content }] });

interface Answer {
  error?: { code: string };
  choices?: unknown[];
}

describe('curl: requests', () => {
  test('a large body waits for 100 Continue, which comes at once', async () => {
    // White space, since no model takes so long a prompt.
    const body = `${question().slice(0, -1)}${' '.repeat(3_000_000)}}`;
    expect(body.length).toBeGreaterThan(2_900_000);
    const { code, stdout, stderr } = await curl(
      [
        '-v',
        '--expect100-timeout',
        '15',
        '-H',
        'Expect: 100-continue',
        ...bearer(),
        ...JSON_TYPE,
        '--data-binary',
        '@-',
        '-w',
        '\n%{time_total}',
        chatUrl(),
      ],
      body,
    );
    expect(code).toBe(0);
    expect(stderr).toContain('> Expect: 100-continue');
    expect(stderr).toContain('< HTTP/1.1 100 Continue');
    expect(stderr).toContain('< HTTP/1.1 200 OK');
    const [answer, seconds] = stdout.split('\n');
    expect((JSON.parse(answer!) as Answer).choices).toHaveLength(1);
    // curl would have waited fifteen seconds for it.
    expect(Number(seconds)).toBeLessThan(10);
  });

  test('a large body with a bad key gets 401, and one over 10 MiB gets 413', async () => {
    const args = [...JSON_TYPE, '--data-binary', '@-', '-w', '\n%{http_code}', chatUrl()];
    const bad = await curl([...bearer('sk-pr-nonsense'), ...args], question('x'.repeat(5_000_000)));
    expect(bad.stdout).toMatch(/invalid_api_key.*\n401$/);
    const large = await curl([...bearer(), ...args], question('x'.repeat(11 * 1024 * 1024)));
    expect(large.stdout).toMatch(/body_too_large.*\n413$/);
  });

  test('two URLs share one connection, after an error too', async () => {
    const models = `${suite.baseUrl}/models`;
    const missing = `${suite.baseUrl}/nothing`;
    const { code, stdout, stderr } = await curl([
      '-v',
      ...bearer(),
      ...['-w', '%{num_connects} %{http_code}\\n', '-o', '/dev/null', models],
      ...['-o', '/dev/null', missing, '-o', '/dev/null', models],
    ]);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toEqual(['1 200', '0 404', '0 200']);
    expect(stderr).toContain('Re-using existing connection');
  });

  test('stray whitespace in the key is 401', async () => {
    const { key } = suite.user;
    const values = [` ${key}`, `\t${key}`, `${key.slice(0, 20)} ${key.slice(20)}`, `${key} ${key}`];
    for (const value of values) {
      const { stdout } = await curl([...bearer(value), ...JSON_TYPE, '-d', question(), chatUrl()]);
      expect([value, (JSON.parse(stdout) as Answer).error?.code]).toEqual([value, 'invalid_api_key']);
    }
  });

  test('a key with a no-break space pasted along is refused, not half accepted', async () => {
    const header = `Authorization: Bearer ${suite.user.key}\u00a0\n`;
    const { stdout } = await curl(['-H', '@-', ...JSON_TYPE, '-d', question(), chatUrl()], header);
    expect((JSON.parse(stdout) as Answer).error?.code).toBe('invalid_api_key');
  });

  test('a form body, which -d sends without a content type, gets an error that says what is wrong', async () => {
    const { stdout } = await curl([
      ...bearer(),
      '-d',
      'model=gateway/fast',
      '-w',
      '\n%{http_code}',
      chatUrl(),
    ]);
    expect(stdout).toMatch(/"code":"invalid_body".*\n400$/);
  });
});

import { SiteNames } from '../../src/inference/widgets/site-names.js';
import { allowsSite, domainOf, siteOf } from '../../src/services/widgets/domains.rules.js';

describe('sites of a widget', () => {
  test('are named in usage, whatever strangers write into their requests', () => {
    const sites = new SiteNames({ now: () => 0 });
    const widget = { id: 'w', domains: ['shop.example', '*.shop.example'] };
    const name = (site: string): string => sites.nameOf(widget, site);
    const strangers = Array.from({ length: 200 }, (_, n) => name(`evil${n}.example`));
    expect(strangers.filter((named) => named !== '')).toHaveLength(20);
    expect(['shop.example', 'eu.shop.example'].map(name)).toEqual(['shop.example', 'eu.shop.example']);
    const own = Array.from({ length: 200 }, (_, n) => name(`s${n}.shop.example`));
    expect(own.filter((named) => named !== '')).toHaveLength(99);
    expect(name('shop.example')).toBe('shop.example');
  });

  test.each([
    ['https://Shop.Example:8443/path?q#x', 'shop.example'],
    ['shop.example/', 'shop.example'],
    [' shop.example ', 'shop.example'],
    ['*.Example.com', '*.example.com'],
    ['https://*.example.com/x', '*.example.com'],
    ['localhost:3000', 'localhost'],
    ['http://[::1]:80', '[::1]'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['127.1', '127.0.0.1'],
  ])('%s is entered, %s is stored', (entered, kept) => {
    expect(domainOf(entered)).toBe(kept);
  });

  test.each([
    '',
    '*',
    '*.',
    'a b',
    'a.*.example',
    '**.example',
    'https://',
    'user@example.com',
    'example.com"',
    'x'.repeat(300),
    'a;frame-ancestors *',
    "'self'",
  ])('%j is not a host name', (entered) => {
    expect(domainOf(entered)).toBeUndefined();
  });

  test.each([
    [['example.com'], 'https://example.com', true],
    [['example.com'], 'http://example.com:8080', true],
    [['example.com'], 'https://www.example.com', false],
    [['example.com'], 'https://example.com.evil.test', false],
    [['example.com'], 'https://notexample.com', false],
    [['*.example.com'], 'https://www.example.com', true],
    [['*.example.com'], 'https://a.b.example.com', true],
    [['*.example.com'], 'https://example.com', false],
    [['*.example.com'], 'https://evilexample.com', false],
    [['*.example.com', 'example.com'], 'https://example.com', true],
    [['example.com'], 'null', false],
    [['example.com'], undefined, false],
    [['example.com'], 'example.com', false],
    [[], undefined, true],
    [[], 'null', true],
    [[], 'https://anything.test', true],
  ])('%j and %s: %s', (domains, origin, allowed) => {
    expect(allowsSite(domains, siteOf(origin))).toBe(allowed);
  });
});

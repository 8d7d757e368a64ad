import { randomUUID } from 'node:crypto';
import { readHead } from '../../../src/lib/upstream/response-head.js';
import { readLitellmDeployment, readServedBy, servedByValue } from '../../../src/lib/upstream/served-by.js';
import fc from '../../support/fast-check.js';

describe('the header that names the deployment', () => {
  test('is read as it was sent, for any name of a deployment', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((id) => !/\p{Cc}/u.test(id)),
        fc.option(fc.uuid()),
        fc.nat(1_000_000),
        (deployment, nodeId, nodeCalls) => {
          const served = { deployment, nodeId, nodeCalls };
          const value = servedByValue(served);
          expect(value).toMatch(/^[!-~]+ \d+ [!-~]+$/);
          expect(readServedBy(value)).toEqual(served);
        },
      ),
    );
  });

  test.each([
    ['nothing', ''],
    ['a name alone', 'fast-1'],
    ['no number', '- x fast-1'],
    ['a number that no integer column holds', '- 9999999 fast-1'],
    ['a name with a NUL', '- 1 fast%00'],
    ['a name with a line break', '- 1 fast%0a'],
    ['a lone surrogate', '- 1 %ED%A0%80'],
    ['a broken escape', '- 1 fast%'],
    ['a name that is too long', `- 1 ${'x'.repeat(201)}`],
  ])('is ignored if it has %s', (_what, value) => {
    expect(readServedBy(value)).toBeUndefined();
  });

  test("has no node if the id of the node isn't a UUID", () => {
    expect(readServedBy(`${'-'.repeat(36)} 1 a`)).toEqual({ deployment: 'a', nodeId: null, nodeCalls: 1 });
  });

  test("is read from the headers of an answer, including LiteLLM's", () => {
    const node = randomUUID();
    const head = (name: string, value: string) => readHead(200, { [name]: value }).servedBy;
    expect(head('x-gateway-served-by', `${node} 3 fast-1`)).toEqual({
      deployment: 'fast-1',
      nodeId: node,
      nodeCalls: 3,
    });
    expect(head('x-litellm-model-id', 'fast-2')).toEqual({
      deployment: 'fast-2',
      nodeId: null,
      nodeCalls: null,
    });
    expect(head('x-other-field-of-19', 'a')).toBeUndefined();
    expect(readLitellmDeployment('a\u0000b')).toBeUndefined();
  });
});

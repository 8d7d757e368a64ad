import { formatTraceparent, readTraceparent } from '../../src/lib/tracing/create-tracing.js';
import fc from '../support/fast-check.js';

const TRACE = 'a'.repeat(32);
const SPAN = 'b'.repeat(16);

describe('the traceparent header', () => {
  test('is read as it was written', () => {
    const digits = (count: number) =>
      fc.stringMatching(new RegExp(`^[0-9a-f]{${count}}$`)).filter((text) => !/^0+$/.test(text));
    fc.assert(
      fc.property(digits(32), digits(16), fc.boolean(), (traceId, spanId, sampled) => {
        const context = { traceId, spanId, sampled };
        expect(readTraceparent(formatTraceparent(context))).toEqual(context);
      }),
    );
  });

  test.each([
    ['of a later version', `cc-${TRACE}-${SPAN}-01-more`, true],
    ['with other flags', `00-${TRACE}-${SPAN}-03`, true],
    ['that is not sampled', `00-${TRACE}-${SPAN}-02`, false],
  ])('is read: one %s', (_what, header, sampled) => {
    expect(readTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, sampled });
  });

  test.each([
    ['no header', undefined],
    ['two of them', [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`]],
    ['an empty one', ''],
    ['the forbidden version', `ff-${TRACE}-${SPAN}-01`],
    ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['more than version 00 has', `00-${TRACE}-${SPAN}-01-more`],
    ['too little', `00-${TRACE}-${SPAN}`],
  ])('is ignored: %s', (_what, header) => {
    expect(readTraceparent(header)).toBeUndefined();
  });
});

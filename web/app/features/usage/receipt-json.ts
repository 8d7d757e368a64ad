import type { UsageReceiptQuery } from '../../../generated/graphql';

type Receipt = NonNullable<NonNullable<UsageReceiptQuery['viewer']>['usageReceipt']>;

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A call with its charge as JSON, in the format of `GET /api/usage/{id}`. */
export function receiptJson({ event, ...charge }: Receipt): string {
  const { apiKey: _key, widget: _widget, status, endpoint, ...call } = event;
  const fields = { ...call, status: status.toLowerCase(), endpoint: endpoint.toLowerCase(), ...charge };
  const named = Object.entries(fields).filter(([name]) => name !== '__typename');
  return JSON.stringify(Object.fromEntries(named.map(([name, value]) => [snake(name), value])), null, 2);
}

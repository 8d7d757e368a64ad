import { Field, ObjectType, registerEnumType } from 'type-graphql';
import {
  type AccountChangeOutput,
  accountChangeOutput,
  type AccountPart as Part,
} from '../../services/live/account-feed.outputs.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';
import { Decimal } from '../scalars.js';

export const AccountPart = {
  BALANCE: 'balance',
  PLAN: 'plan',
  KEYS: 'keys',
  REFUSED_CALLS: 'refused_calls',
} as const satisfies Record<string, Part>;
registerEnumType(AccountPart, {
  name: 'AccountPart',
  description: 'What of an account can change.',
  valuesConfig: {
    BALANCE: { description: 'The balance.' },
    PLAN: { description: 'The plan.' },
    KEYS: { description: 'The API keys: one was made, changed or deleted.' },
    REFUSED_CALLS: { description: 'Calls were refused.' },
  },
});

const doc = fieldDocs(accountChangeOutput);

@ObjectType({ description: accountChangeOutput.description })
export class AccountChange implements Camel<AccountChangeOutput> {
  @Field(() => [AccountPart], { description: doc.changed })
  changed!: Part[];

  @Field(() => Decimal, { description: doc.balanceUsd })
  balanceUsd!: string;

  @Field({ description: doc.planName })
  planName!: string;
}

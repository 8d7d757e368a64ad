import { Field, Float, ObjectType, registerEnumType } from 'type-graphql';
import {
  type OutlookOutput,
  outlookOutput,
  type BalanceState as State,
} from '../../services/billing/outlook.outputs.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';
import { Decimal } from '../scalars.js';

export const BalanceState = { FINE: 'fine', LOW: 'low', STOPPED: 'stopped' } as const satisfies Record<
  string,
  State
>;
registerEnumType(BalanceState, {
  name: 'BalanceState',
  description: 'Where a balance stands.',
  valuesConfig: {
    FINE: { description: 'It reaches for a while.' },
    LOW: { description: 'It will be used up soon.' },
    STOPPED: { description: 'It is used up: calls are refused.' },
  },
});

const doc = fieldDocs(outlookOutput);

@ObjectType({ description: outlookOutput.description })
export class BalanceOutlook implements Camel<OutlookOutput> {
  @Field(() => BalanceState, { description: doc.state })
  state!: State;

  @Field(() => Decimal, { description: doc.balanceUsd })
  balanceUsd!: string;

  @Field(() => Decimal, { nullable: true, description: doc.lastCreditUsd })
  lastCreditUsd!: string | null;

  @Field(() => Decimal, { description: doc.dailySpendUsd })
  dailySpendUsd!: string;

  @Field(() => Float, { nullable: true, description: doc.daysLeft })
  daysLeft!: number | null;
}

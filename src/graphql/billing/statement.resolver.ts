import { Args, Ctx, FieldResolver, Resolver } from 'type-graphql';
import { ledgerMonthInput } from '../../services/billing/billing.inputs.js';
import { statementOutput } from '../../services/billing/statement.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import { MonthArgs } from './billing.args.js';
import { Statement } from './statement.types.js';

/** It reads the account's roll-ups from the month on. */
const READING = 200;

@Resolver(() => Viewer)
export class ViewerStatementResolver {
  @FieldResolver(() => Statement, {
    nullable: true,
    description: statementOutput.description,
    complexity: ({ childComplexity }) => READING + 20 * childComplexity,
  })
  async statement(@Args() args: MonthArgs, @Ctx() { services, service }: GraphqlContext): Promise<Statement> {
    return camelCased(await services.statements.statement(service, checked(ledgerMonthInput, args)));
  }
}

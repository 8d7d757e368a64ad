import { ledgerMonthInput } from '../../services/billing/billing.inputs.js';
import { outlookOutput } from '../../services/billing/outlook.outputs.js';
import {
  statementDayOutput,
  statementKeyOutput,
  statementModelOutput,
  statementOutput,
} from '../../services/billing/statement.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { toGraphql } from '../case.js';
import { enumOf } from '../enum-of.js';
import { field } from '../fields.js';
import { checked } from '../input.js';
import { objectType } from '../zod-fields.js';

enumOf('BalanceState', 'State of the balance.', outlookOutput.shape.state, {
  fine: 'The balance is sufficient.',
  low: 'The balance will be used up soon.',
  stopped: 'The balance is used up, and calls are rejected.',
});

objectType('StatementDay', statementDayOutput);
objectType('StatementModel', statementModelOutput);
objectType('StatementKey', statementKeyOutput);

/** Reads the account's roll-ups of a week or since the month began, so it counts as another read. */
const READING = 500;

/** The balance outlook and the monthly statement. */
export const statementResolvers = [
  field(Viewer, 'balanceOutlook', objectType('BalanceOutlook', outlookOutput), {
    description: 'How long the balance lasts.',
    complexity: ({ childComplexity }) => READING + childComplexity,
    run: ({ services, service }) => toGraphql(services.outlook.outlook(service)),
  }),
  field(Viewer, 'statement', objectType('Statement', statementOutput), {
    nullable: true,
    description: statementOutput.description,
    complexity: ({ childComplexity }) => READING + 20 * childComplexity,
    args: ledgerMonthInput,
    run: ({ services, service }, args) =>
      toGraphql(services.statements.statement(service, checked(ledgerMonthInput, args))),
  }),
];

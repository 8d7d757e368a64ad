import { ObjectType } from 'type-graphql';
import {
  statementDayOutput,
  statementKeyOutput,
  statementModelOutput,
  statementOutput,
} from '../../services/billing/statement.outputs.js';
import { outputFields } from '../zod-fields.js';

@ObjectType({ description: statementDayOutput.description })
export class StatementDay extends outputFields(statementDayOutput) {}

@ObjectType({ description: statementModelOutput.description })
export class StatementModel extends outputFields(statementModelOutput) {}

@ObjectType({ description: statementKeyOutput.description })
export class StatementKey extends outputFields(statementKeyOutput) {}

@ObjectType({ description: statementOutput.description })
export class Statement extends outputFields(statementOutput, {
  byDay: [StatementDay],
  byModel: [StatementModel],
  byKey: [StatementKey],
}) {}

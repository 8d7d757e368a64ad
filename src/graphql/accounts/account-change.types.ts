import { ObjectType } from 'type-graphql';
import { accountChangeOutput } from '../../services/live/account-feed.outputs.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const AccountPart = enumOf(
  'AccountPart',
  'A part of an account.',
  accountChangeOutput.shape.changed.element,
  {
    balance: 'The balance.',
    plan: 'The plan.',
    keys: 'The API keys: one was created, changed or deleted.',
    refused_calls: 'Calls were rejected.',
  },
);

@ObjectType({ description: accountChangeOutput.description })
export class AccountChange extends outputFields(accountChangeOutput, { changed: [AccountPart] }) {}

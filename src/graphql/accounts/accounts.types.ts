import { InterfaceType, ObjectType } from 'type-graphql';
import { accountOutput, userOutput } from '../../services/accounts/accounts.outputs.js';
import { accountChangeOutput } from '../../services/live/account-feed.outputs.js';
import { connectionOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { nameType, objectType, outputFields } from '../zod-fields.js';

export const UserRole = enumOf('UserRole', 'Account role.', userOutput.shape.role, {
  user: 'A regular user.',
  admin: 'An administrator.',
});

enumOf('AccountStatus', 'Account status.', userOutput.shape.status, {
  active: 'The account is in use.',
  disabled: "The account can't log in, and its API keys are rejected.",
});

@InterfaceType({ description: accountOutput.description, autoRegisterImplementations: false })
export abstract class Account extends outputFields(userOutput) {}

@ObjectType({ implements: Account, description: 'An account, as shown to its owner and to administrators.' })
export class User extends Account {}
nameType(userOutput, User);

@ObjectType({
  implements: Account,
  description: 'The signed-in account and everything that belongs to it.',
})
export class Viewer extends Account {}

export const UserConnection = connectionOf(User, 'accounts');

enumOf('AccountPart', 'A part of an account.', accountChangeOutput.shape.changed.element, {
  balance: 'The balance.',
  plan: 'The plan.',
  keys: 'The API keys: one was created, changed or deleted.',
  refused_calls: 'Calls were rejected.',
});
export const AccountChange = objectType('AccountChange', accountChangeOutput);

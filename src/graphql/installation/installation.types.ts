import { ObjectType } from 'type-graphql';
import { installationOutput } from '../../services/installation/installation.outputs.js';
import { outputFields } from '../zod-fields.js';

@ObjectType({ description: installationOutput.description })
export class Installation extends outputFields(installationOutput) {}

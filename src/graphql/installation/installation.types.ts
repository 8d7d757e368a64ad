import { Field, ObjectType } from 'type-graphql';
import {
  type InstallationOutput,
  installationOutput,
} from '../../services/installation/installation.outputs.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';

const doc = fieldDocs(installationOutput);

@ObjectType({ description: installationOutput.description })
export class Installation implements Camel<InstallationOutput> {
  @Field({ description: doc.publicBaseUrl })
  publicBaseUrl!: string;

  @Field({ description: doc.mailConfigured })
  mailConfigured!: boolean;
}

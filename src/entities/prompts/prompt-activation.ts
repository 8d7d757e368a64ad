import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { Prompt } from './prompt.js';

/** An activation of a prompt's version. */
const PromptActivationSchema = defineEntity({
  name: 'PromptActivation',
  tableName: 'prompt_activations',
  properties: {
    promptId: () =>
      p
        .manyToOne(Prompt)
        .mapToPk()
        .joinColumn('prompt_id')
        .foreignKeyName('prompt_activations_prompt_id_fkey')
        .deleteRule('cascade')
        .primary(),
    /** The prompt's revision after the activation, which orders a prompt's activations. */
    revision: p.integer().primary(),
    fromVersion: p.integer(),
    toVersion: p.integer(),
    /** The account that activated it. */
    byAccountId: p.uuid(),
    at: p.datetime(6),
  },
});

export class PromptActivation extends PromptActivationSchema.class {
  override [PrimaryKeyProp]?: ['promptId', 'revision'];
}
PromptActivationSchema.setClass(PromptActivation);

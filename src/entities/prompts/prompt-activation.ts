import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { Prompt } from './prompt.js';

/** A move of a prompt's active version. */
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
    /** The prompt's revision that the move made: moves of a prompt are in this order. */
    revision: p.integer().primary(),
    fromVersion: p.integer(),
    toVersion: p.integer(),
    /** The account that moved it. */
    byAccountId: p.uuid(),
    at: p.datetime(6),
  },
});

export class PromptActivation extends PromptActivationSchema.class {
  override [PrimaryKeyProp]?: ['promptId', 'revision'];
}
PromptActivationSchema.setClass(PromptActivation);

import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';
import { Prompt } from './prompt.js';

/** A declared variable; null for what its author left out. */
export interface StoredVariable {
  name: string;
  description: string | null;
  default: string | null;
}

/** The model and parameters that a version is meant for. */
export interface StoredConfig {
  model_public_name: string | null;
  temperature: number | null;
  max_tokens: number | null;
  top_p: number | null;
}

/** The content of a prompt. The database refuses to change it, and to delete it without its prompt. */
const PromptVersionSchema = defineEntity({
  name: 'PromptVersion',
  tableName: 'prompt_versions',
  uniques: [{ name: 'prompt_versions_prompt_version_key', properties: ['promptId', 'version'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    promptId: () =>
      p
        .manyToOne(Prompt)
        .mapToPk()
        .joinColumn('prompt_id')
        .foreignKeyName('prompt_versions_prompt_id_fkey')
        .deleteRule('cascade'),
    /** Numbered from 1 within its prompt. */
    version: p.integer(),
    content: p.text(),
    variables: p.json<StoredVariable[]>(),
    config: p.json<StoredConfig>().nullable(),
    /** The author's notes about the change. */
    notes: p.text().nullable(),
    createdAt: p.datetime(6),
  },
});

export class PromptVersion extends PromptVersionSchema.class {}
PromptVersionSchema.setClass(PromptVersion);

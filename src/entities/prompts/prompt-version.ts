import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';
import { Prompt } from './prompt.js';

/** A declared variable; null where nothing was said. */
export interface StoredVariable {
  name: string;
  description: string | null;
  default: string | null;
}

/** With which model and parameters a version is meant to be called. */
export interface StoredConfig {
  model_public_name: string | null;
  temperature: number | null;
  max_tokens: number | null;
  top_p: number | null;
}

/** What a prompt says. The database refuses to change it, and to remove it without its prompt. */
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
    /** Counts up from 1 within its prompt. */
    version: p.integer(),
    content: p.text(),
    variables: p.json<StoredVariable[]>(),
    config: p.json<StoredConfig>().nullable(),
    /** What changed. */
    notes: p.text().nullable(),
    createdAt: p.datetime(6),
  },
});

export class PromptVersion extends PromptVersionSchema.class {}
PromptVersionSchema.setClass(PromptVersion);

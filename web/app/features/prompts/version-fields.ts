import { z } from 'zod';
import type { AddPromptVersionInput, VersionPartsFragment } from '../../../generated/graphql';

const variableFields = z.object({
  name: z.string(),
  description: z.string(),
  /** Without a default each render must supply a value. */
  required: z.boolean(),
  default: z.string(),
});
export type VariableFields = z.infer<typeof variableFields>;

const configFields = z.object({
  model: z.string(),
  temperature: z.string(),
  maxTokens: z.string(),
  topP: z.string(),
});
export type ConfigFields = z.infer<typeof configFields>;

/** The fields of a version, as typed. */
export const versionFields = z.object({
  content: z.string(),
  variables: z.array(variableFields),
  config: configFields,
  notes: z.string(),
});
export type VersionFields = z.infer<typeof versionFields>;

/** The name of the draft of a prompt's next version. */
export const versionDraft = (promptId: string): string => `version of prompt ${promptId}`;

export const NO_CONFIG: ConfigFields = { model: '', temperature: '', maxTokens: '', topP: '' };
export const NO_VERSION: VersionFields = { content: '', variables: [], config: NO_CONFIG, notes: '' };

/** A new declared variable. */
export const newVariable = (name: string): VariableFields => ({
  name,
  description: '',
  required: true,
  default: '',
});

const typed = (value: number | null | undefined): string => (value == null ? '' : String(value));

/** The fields of an existing version, without its notes, which described an earlier change. */
export function fieldsOf({ content, variables, config }: VersionPartsFragment): VersionFields {
  return {
    content,
    variables: variables.map(({ name, description, default: value }) => ({
      name,
      description: description ?? '',
      required: value == null,
      default: value ?? '',
    })),
    config: {
      model: config?.modelPublicName ?? '',
      temperature: typed(config?.temperature),
      maxTokens: typed(config?.maxTokens),
      topP: typed(config?.topP),
    },
    notes: '',
  };
}

const text = (value: string): string | null => value.trim() || null;
/** An invalid number is left to the check, which names the bounds. */
const number = (value: string): number | null => (value.trim() === '' ? null : Number(value));

const inputVariables = (variables: readonly VariableFields[]) =>
  variables.map(({ name, description, required, default: value }) => ({
    name: name.trim(),
    description: text(description),
    default: required ? null : value,
  }));

type VersionInput = Omit<AddPromptVersionInput, 'promptId'>;

/** The fields as input of a mutation. */
export function versionInput({ content, variables, config, notes }: VersionFields): VersionInput {
  const chosen = {
    modelPublicName: text(config.model),
    temperature: number(config.temperature),
    maxTokens: number(config.maxTokens),
    topP: number(config.topP),
  };
  const isChosen = Object.values(chosen).some((value) => value !== null);
  return {
    content,
    variables: inputVariables(variables),
    config: isChosen ? chosen : null,
    notes: text(notes),
  };
}

/** The same with the names of REST, for the schemas that pages share with the server. */
export function checkedVersion(fields: VersionFields) {
  const { config, ...rest } = versionInput(fields);
  return {
    ...rest,
    config: config && {
      model_public_name: config.modelPublicName,
      temperature: config.temperature,
      max_tokens: config.maxTokens,
      top_p: config.topP,
    },
  };
}

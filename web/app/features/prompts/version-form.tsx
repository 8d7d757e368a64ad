import { TextInput } from '@mantine/core';
import { placeholderNames } from '../../../../src/services/prompts/placeholders.rules';
import { brokenPlaceholders } from './broken-placeholders';
import { ConfigFields } from './config-fields';
import classes from './prompts.module.css';
import { TemplateField } from './template-field';
import { VariablesField } from './variables-field';
import type { VersionFields } from './version-fields';

interface VersionFormProps {
  fields: VersionFields;
  /** By the field names of the API: `variables.0.name`. */
  faults: Record<string, string>;
  onChange(fields: VersionFields): void;
}

/** The form of a prompt's version. */
export function VersionForm({ fields, faults, onChange }: VersionFormProps) {
  const { content, variables, config, notes } = fields;
  return (
    <>
      <TemplateField
        label="Prompt text"
        value={content}
        declared={new Set(variables.map(({ name }) => name))}
        error={faults.content}
        onChange={(text) => onChange({ ...fields, content: text })}
      />
      <VariablesField
        variables={variables}
        placed={placeholderNames(content)}
        broken={brokenPlaceholders(content)}
        faults={faults}
        onChange={(list) => onChange({ ...fields, variables: list })}
      />
      <ConfigFields
        config={config}
        faults={faults}
        onChange={(chosen) => onChange({ ...fields, config: chosen })}
      />
      <TextInput
        className={classes.notes!}
        label="Notes"
        description="What changed, for the list of versions"
        autoComplete="off"
        value={notes}
        error={faults.notes}
        onChange={({ currentTarget }) => onChange({ ...fields, notes: currentTarget.value })}
      />
    </>
  );
}

import { NativeSelect, TextInput } from '@mantine/core';
import { LoadError } from '../../ui/load-error';
import { withChosen } from '../../ui/with-chosen';
import classes from './prompts.module.css';
import { useChatModels } from './use-chat-models';
import type { ConfigFields as Config } from './version-fields';

interface ConfigFieldsProps {
  config: Config;
  /** Field, such as `config.max_tokens` → error. */
  faults: Record<string, string>;
  onChange(config: Config): void;
}

/** Model and parameters of a version. */
export function ConfigFields({ config, faults, onChange }: ConfigFieldsProps) {
  const { models, error, refresh } = useChatModels();
  const options = [
    { value: '', label: 'Any model' },
    ...models.map(({ name }) => ({ value: name, label: name })),
  ];
  const number = (field: 'temperature' | 'maxTokens' | 'topP', label: string, fault: string | undefined) => (
    <TextInput
      label={label}
      inputMode="decimal"
      autoComplete="off"
      placeholder="Model’s own"
      value={config[field]}
      error={fault}
      onChange={({ currentTarget }) => onChange({ ...config, [field]: currentTarget.value })}
    />
  );
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      <fieldset className={classes.config}>
        <legend>Model and parameters</legend>
        <NativeSelect
          label="Model"
          data={withChosen(options, config.model)}
          value={config.model}
          error={faults['config.model_public_name']}
          onChange={({ currentTarget }) => onChange({ ...config, model: currentTarget.value })}
        />
        {number('temperature', 'Temperature', faults['config.temperature'])}
        {number('maxTokens', 'Max tokens', faults['config.max_tokens'])}
        {number('topP', 'Top p', faults['config.top_p'])}
      </fieldset>
    </>
  );
}

import { Button, TextInput } from '@mantine/core';
import classes from './prompts.module.css';
import { newVariable, type VariableFields } from './version-fields';

interface VariablesFieldProps {
  variables: readonly VariableFields[];
  /** Names of the placeholders in the text. */
  placed: readonly string[];
  /** Pieces of the text that look like placeholders but are invalid. */
  broken: readonly string[];
  /** Field, such as `variables` or `variables.0.name` → error. */
  faults: Record<string, string>;
  onChange(variables: VariableFields[]): void;
}

/** The variables of a prompt: the declared ones, and the undeclared ones in the text. */
export function VariablesField({ variables, placed, broken, faults, onChange }: VariablesFieldProps) {
  const declared = new Set(variables.map(({ name }) => name));
  const undeclared = placed.filter((name) => !declared.has(name));
  const set = (index: number, change: Partial<VariableFields>): void =>
    onChange(variables.map((one, at) => (at === index ? { ...one, ...change } : one)));
  return (
    <fieldset className={classes.variables}>
      <legend>Variables</legend>
      {variables.length === 0 && undeclared.length === 0 && (
        <p className={classes.hint}>No variables yet. Type {'{{ name }}'} in the text to add one.</p>
      )}
      {variables.map((variable, index) => (
        <Variable
          key={index}
          variable={variable}
          number={index + 1}
          isPlaced={placed.includes(variable.name)}
          fault={(field) => faults[`variables.${index}.${field}`]}
          onChange={(change) => set(index, change)}
          onRemove={() => onChange(variables.filter((_, at) => at !== index))}
        />
      ))}
      {broken.map((piece) => (
        <p key={piece} className={classes.undeclared}>
          <span>
            <code>{piece}</code> isn’t a variable and stays as it is. Names have letters, digits and
            underscores, and don’t begin with a digit.
          </span>
        </p>
      ))}
      {undeclared.map((name) => (
        <div key={name} className={classes.undeclared}>
          <span>
            <code>{`{{ ${name} }}`}</code> isn’t declared: each render must supply it.
          </span>
          <Button
            size="xs"
            variant="default"
            aria-label={`Declare ${name}`}
            onClick={() => onChange([...variables, newVariable(name)])}
          >
            Declare
          </Button>
        </div>
      ))}
      {faults.variables && (
        <p role="alert" className={classes.error}>
          {faults.variables}
        </p>
      )}
    </fieldset>
  );
}

interface VariableProps {
  variable: VariableFields;
  number: number;
  isPlaced: boolean;
  fault(field: string): string | undefined;
  onChange(change: Partial<VariableFields>): void;
  onRemove(): void;
}

function Variable({ variable, number, isPlaced, fault, onChange, onRemove }: VariableProps) {
  const { name, description, required, default: value } = variable;
  const called = name || `variable ${number}`;
  return (
    <div className={classes.variable}>
      <TextInput
        label="Name"
        aria-label={`Name of variable ${number}`}
        value={name}
        error={fault('name')}
        {...(!isPlaced && name !== '' && { description: 'Not in the text' })}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      <TextInput
        label="Description"
        aria-label={`Description of ${called}`}
        value={description}
        error={fault('description')}
        onChange={({ currentTarget }) => onChange({ description: currentTarget.value })}
      />
      <div>
        <TextInput
          label="Default"
          aria-label={`Default of ${called}`}
          value={required ? '' : value}
          error={fault('default')}
          placeholder={required ? 'None: a value is required' : 'Empty text'}
          onChange={({ currentTarget }) => onChange({ default: currentTarget.value, required: false })}
        />
        <label className={classes.check}>
          <input
            type="checkbox"
            checked={required}
            aria-label={`${called} is required`}
            onChange={({ currentTarget }) => onChange({ required: currentTarget.checked })}
          />
          Required
        </label>
      </div>
      <Button size="xs" variant="subtle" aria-label={`Remove ${called}`} onClick={onRemove}>
        Remove
      </Button>
    </div>
  );
}

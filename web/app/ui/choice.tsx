import classes from './choice.module.css';
import { Unseen } from './unseen';

interface ChoiceProps<Value> {
  /** Label for screen readers. */
  label: string;
  options: readonly { value: Value; label: string }[];
  value: Value;
  onChange(value: NoInfer<Value>): void;
}

/** A choice among a few visible options. */
export function Choice<Value extends string | number>({
  label,
  options,
  value,
  onChange,
}: ChoiceProps<Value>) {
  return (
    <fieldset className={classes.choice}>
      <legend>
        <Unseen>{label}</Unseen>
      </legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}

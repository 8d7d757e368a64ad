import { type ReactNode, useId } from 'react';
import { characters } from '../../../../src/lib/characters';
import { placeholders } from '../../../../src/services/prompts/placeholders.rules';
import { formatCount } from '../../ui/format';
import classes from './template-field.module.css';

interface TemplateFieldProps {
  label: string;
  value: string;
  /** Names of declared variables: others are marked as undeclared. */
  declared: ReadonlySet<string>;
  error?: string | undefined;
  onChange(value: string): void;
}

/** The most characters a template may have. */
const MOST_CHARACTERS = 50_000;

/** A text field that highlights placeholders while typing. */
export function TemplateField({ label, value, declared, error, onChange }: TemplateFieldProps) {
  const id = useId();
  return (
    <div className={classes.field}>
      <div className={classes.label}>
        <label htmlFor={id}>{label}</label>
        <span>
          {formatCount(characters(value))} of {formatCount(MOST_CHARACTERS)} characters
        </span>
      </div>
      <div className={classes.frame} data-faulty={error !== undefined || undefined}>
        <div className={classes.both}>
          {/* Behind the text, with the same letters in the same places; hidden from screen readers. */}
          <div aria-hidden="true" className={classes.marks}>
            {marked(value, declared)}
            {'\n'}
          </div>
          <textarea
            id={id}
            value={value}
            spellCheck={false}
            placeholder="Write a reply to {{ customer }} about {{ topic }}."
            aria-invalid={error !== undefined}
            aria-describedby={`${id}-hint`}
            onChange={({ currentTarget }) => onChange(currentTarget.value)}
          />
        </div>
      </div>
      <p id={`${id}-hint`} className={error === undefined ? classes.hint : classes.error}>
        {error ?? (
          <>
            <code>{'{{ name }}'}</code> is filled when the prompt is rendered.
          </>
        )}
      </p>
    </div>
  );
}

/** Splits the text into pieces and marks the placeholders. */
function marked(text: string, declared: ReadonlySet<string>): ReactNode[] {
  const pieces: ReactNode[] = [];
  let done = 0;
  for (const { name, start, end } of placeholders(text)) {
    pieces.push(
      text.slice(done, start),
      <mark key={start} data-undeclared={!declared.has(name) || undefined}>
        {text.slice(start, end)}
      </mark>,
    );
    done = end;
  }
  pieces.push(text.slice(done));
  return pieces;
}

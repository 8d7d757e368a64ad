import { TextInput } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { Chip, Chips } from '../../ui/chips';
import { composes } from '../../ui/composing';
import { Note } from '../../ui/note';
import { enteredDomains } from './entered-domains.rules';
import classes from './widgets.module.css';

interface DomainsFieldProps {
  /** One per line. */
  value: string;
  onChange(value: string): void;
  /** The server's error. */
  error: string | undefined;
  /** Why the content of the field was not added. */
  fault: string | undefined;
  onFault(fault: string | undefined): void;
}

/**
 * The domains that may show a widget, as chips. A list can be pasted; scheme, port and path of URLs are removed. If any entry is
 * invalid, all of them stay in the field.
 */
export function DomainsField({ value, onChange, error, fault, onFault }: DomainsFieldProps) {
  const [typed, setTyped] = useState('');
  const domains = value.split('\n').filter(Boolean);
  const add = (): void => {
    const { right, wrong } = enteredDomains(typed);
    if (wrong.length > 0) {
      onFault(`Not a host name such as example.com or *.example.com: ${wrong.join(', ')}`);
      return;
    }
    onFault(undefined);
    setTyped('');
    if (right.length > 0) onChange([...new Set([...domains, ...right])].join('\n'));
  };
  const press = (event: KeyboardEvent): void => {
    // A held key empties the field but must not go on to remove domains: without domains, every site is allowed.
    if (event.key === 'Backspace' && !event.repeat && typed === '' && domains.length > 0) {
      onChange(domains.slice(0, -1).join('\n'));
    }
    if (composes(event.nativeEvent)) return;
    if ((event.key !== 'Enter' && event.key !== ',') || typed.trim() === '') return;
    event.preventDefault();
    add();
  };
  return (
    <div className={classes.domains}>
      <TextInput
        label="Allowed domains"
        description="Scheme, port and path are removed. *.example.com allows the subdomains of example.com, but not itself."
        placeholder="example.com"
        inputMode="url"
        autoComplete="off"
        value={typed}
        error={fault ?? error}
        onChange={({ currentTarget }) => {
          onFault(undefined);
          setTyped(currentTarget.value);
        }}
        onKeyDown={press}
        onBlur={add}
      />
      {domains.length === 0 ? (
        <Note tone="warn">No domains: any site can show this widget.</Note>
      ) : (
        <Chips label="Domains">
          {domains.map((domain) => (
            <Chip
              key={domain}
              removes={domain}
              onRemove={() => onChange(domains.filter((other) => other !== domain).join('\n'))}
            >
              {domain}
            </Chip>
          ))}
        </Chips>
      )}
    </div>
  );
}

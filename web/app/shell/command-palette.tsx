import '../ui/modal-styles';
import { Modal } from '@mantine/core';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { composes } from '../ui/composing';
import classes from './command-palette.module.css';
import { type Command, matching } from './command-palette.rules';

interface CommandPaletteProps {
  opened: boolean;
  onClose(): void;
  commands: readonly Command[];
}

/** Finds commands by a few letters. The focus stays in the field; arrow keys move the choice. */
export default function CommandPalette({ opened, onClose, commands }: CommandPaletteProps) {
  return (
    <Modal.Root opened={opened} onClose={onClose} returnFocus={false}>
      <Modal.Overlay />
      <Modal.Content aria-label="Commands">
        <Search commands={commands} onClose={onClose} />
      </Modal.Content>
    </Modal.Root>
  );
}

function Search({ commands, onClose }: Omit<CommandPaletteProps, 'opened'>) {
  const id = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const option = useRef<HTMLDivElement>(null);
  // Focused at once: the dialog would do it later and lose the first letters that are typed.
  useEffect(() => field.current?.focus(), []);
  // The focus stays in the field, so the browser doesn't scroll to the chosen option. Another text chooses another option.
  useEffect(() => void option.current?.scrollIntoView({ block: 'nearest' }), [chosen, text]);
  const found = matching(commands, text);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    command.run(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (composes(event.nativeEvent)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((chosen + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter') run(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        ref={field}
        className={classes.input}
        data-autofocus
        role="combobox"
        aria-label="Type a command"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
        autoComplete="off"
        placeholder="Type a command or a request ID"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Commands" className={classes.list}>
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys
          <div
            key={command.label}
            ref={index === chosen ? option : null}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={classes.option}
            onClick={() => run(command)}
            onMouseMove={() => setChosen(index)}
          >
            {command.label}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className={classes.nothing}>No matching command.</p>}
    </>
  );
}

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { isRequestId } from './request-id';
import classes from './usage.module.css';

/** Finds a call by the `x-request-id` of its response. */
export function FindCall({ onFind }: { onFind(id: string): void }) {
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState(false);
  const find = (event: FormEvent): void => {
    event.preventDefault();
    const id = typed.trim().toLowerCase();
    setFault(!isRequestId(id));
    if (isRequestId(id)) onFind(id);
  };
  return (
    <form className={classes.find} noValidate onSubmit={find}>
      <TextInput
        label="Request ID"
        placeholder="Value of the x-request-id header"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        error={fault && 'A request ID looks like 0199c0de-7a2b-7c3d-8e4f-5a6b7c8d9e0f'}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Button type="submit" variant="default">
        Find call
      </Button>
    </form>
  );
}

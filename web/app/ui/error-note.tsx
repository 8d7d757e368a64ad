import type { ShownError } from '../graphql/errors';
import classes from './error-note.module.css';

/** An error above the form or button that caused it. Announced at once. */
export function ErrorNote({ error }: { error: ShownError }) {
  return (
    <p role="alert" className={classes.note}>
      {error.message}
      {error.requestId !== null && error.code === 'internal_error' && (
        <span className={classes.request}> Request {error.requestId}</span>
      )}
    </p>
  );
}

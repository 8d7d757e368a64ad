import { createContext, use } from 'react';
import classes from './simulated.module.css';

/** Public names of the models that the bundled simulator answers. */
export const SimulatedModels = createContext<readonly string[]>([]);

/** Marks the name of a model that the simulator answers. */
export function SimulatedMark({ model }: { model: string }) {
  if (!use(SimulatedModels).includes(model)) return null;
  return (
    <>
      {' '}
      <span className={classes.simulated} title="Answered by the bundled simulator, not by a real model">
        simulated
      </span>
    </>
  );
}

import { CheckIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Unseen } from '../../ui/unseen';
import classes from './overview.module.css';

export type StepState = 'done' | 'next' | 'later';
const WORDS = { done: '(done)', next: '', later: '(later)' } as const;

interface StepProps {
  number: number;
  title: string;
  state: StepState;
  children: ReactNode;
}

/** One step of a numbered list. */
export function Step({ number, title, state, children }: StepProps) {
  return (
    <li className={classes.step} data-state={state}>
      <span className={classes.mark} aria-hidden="true">
        {state === 'done' ? <CheckIcon size={16} strokeWidth={2} /> : number}
      </span>
      <div className={classes.content}>
        <h2>
          {title} <Unseen>{WORDS[state]}</Unseen>
        </h2>
        {children}
      </div>
    </li>
  );
}

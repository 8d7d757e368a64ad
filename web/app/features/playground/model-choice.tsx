import { useId } from 'react';
import { asSentence } from '../../ui/form-errors';
import { SimulatedMark } from '../../ui/simulated';
import { Waiting } from '../../ui/waiting';
import type { ChatModel } from '../prompts/use-chat-models';
import classes from './playground.module.css';

interface ModelChoiceProps {
  /** Every chat model; empty while loading. */
  models: readonly ChatModel[];
  /** Public names, in the order of the columns. */
  chosen: readonly string[];
  fault: string | undefined;
  /** The list could not be loaded. */
  isUnread: boolean;
  onChange(chosen: string[]): void;
}

const MOST_MODELS = 4;
const OTHER_NUMBER = `Choose 1 to ${MOST_MODELS} models`;
/** The number of placeholders: as many as the catalog has chat models. */
const AWAITED_MODELS = 5;

/** Chooses up to four models; marks those that the plan doesn't include. */
export function ModelChoice({ models, chosen, fault, isUnread, onChange }: ModelChoiceProps) {
  const known = new Set(models.map(({ name }) => name));
  // A model of an old session may no longer be in the catalog.
  const gone = chosen.filter((name) => models.length > 0 && !known.has(name));
  const all = [...models, ...gone.map((name) => ({ name, isAllowed: false }))];
  const faultId = useId();
  const isFull = chosen.length >= MOST_MODELS;
  return (
    <fieldset className={classes.models}>
      <legend>Models, up to {MOST_MODELS}</legend>
      {all.length === 0 && !isUnread && <AwaitedModels />}
      {all.map(({ name, isAllowed }) => {
        const isChosen = chosen.includes(name);
        return (
          <label key={name} data-chosen={isChosen || undefined} data-out={!isAllowed || undefined}>
            <input
              type="checkbox"
              checked={isChosen}
              aria-invalid={fault !== undefined}
              aria-describedby={fault && faultId}
              disabled={!isChosen && (!isAllowed || isFull)}
              onChange={() => onChange(isChosen ? chosen.filter((one) => one !== name) : [...chosen, name])}
            />
            <span>
              {name}
              <SimulatedMark model={name} />
              {!isAllowed && <span className={classes.why}>, not in your plan</span>}
            </span>
          </label>
        );
      })}
      {fault && (
        <p id={faultId} className={classes.fault}>
          {chosen.length === 0 || chosen.length > MOST_MODELS ? OTHER_NUMBER : asSentence(fault)}
        </p>
      )}
    </fieldset>
  );
}

function AwaitedModels() {
  return Array.from({ length: AWAITED_MODELS }, (_, index) => (
    <span key={index} className={classes.awaited}>
      <Waiting />
    </span>
  ));
}

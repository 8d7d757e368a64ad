import { Choice } from '../../ui/choice';
import { MARGIN_WINDOWS, type MarginWindow } from './nodes-search';

const OPTIONS = MARGIN_WINDOWS.map((value) => ({ value, label: value === 1 ? '24 hours' : `${value} days` }));

interface MarginWindowChoiceProps {
  value: MarginWindow;
  onChange(days: MarginWindow): void;
}

/** Chooses the window of the margins, up to now. */
export function MarginWindowChoice({ value, onChange }: MarginWindowChoiceProps) {
  return <Choice label="Time window" options={OPTIONS} value={value} onChange={onChange} />;
}

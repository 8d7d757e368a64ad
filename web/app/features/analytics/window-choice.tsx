import { Choice } from '../../ui/choice';
import { WINDOWS, type WindowDays } from './window';

const OPTIONS = WINDOWS.map((value) => ({ value, label: value === 1 ? 'Today' : `${value} days` }));

interface WindowChoiceProps {
  value: WindowDays;
  onChange(days: WindowDays): void;
}

/** Chooses the window of the figures. */
export function WindowChoice({ value, onChange }: WindowChoiceProps) {
  return <Choice label="Time window" options={OPTIONS} value={value} onChange={onChange} />;
}

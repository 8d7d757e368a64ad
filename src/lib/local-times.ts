/** Formats times (milliseconds) as local times of a time zone: `2026-11-21T13:30`. */
export function localTimes(timeZone: string): (timeMs: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (timeMs) => format.format(timeMs).replace(' ', 'T');
}

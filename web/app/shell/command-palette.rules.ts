/** An entry of the command palette. */
export interface Command {
  label: string;
  /** Other words that find it. */
  words?: string;
  /** Only offered for a text of this form, which is passed to it. */
  takes?(text: string): boolean;
  run(text: string): void;
}

/** Commands that have, for every typed word, a word that begins with it. Commands that begin with the text come first. */
export function matching(commands: readonly Command[], text: string): Command[] {
  const typed = text.toLowerCase().split(/\s+/).filter(Boolean);
  const wordsOf = ({ label, words = '' }: Command): string[] =>
    `${label} ${words}`.toLowerCase().split(/[\s,]+/);
  const fits = (command: Command): boolean =>
    command.takes?.(text.trim()) ??
    typed.every((start) => wordsOf(command).some((word) => word.startsWith(start)));
  const rank = ({ label }: Command): number => (label.toLowerCase().startsWith(typed.join(' ')) ? 0 : 1);
  return commands.filter(fits).sort((a, b) => rank(a) - rank(b));
}

/** Something that can be done from anywhere. */
export interface Command {
  label: string;
  /** Other words by which it is looked for. */
  words?: string;
  /** Offered for a text of this form alone, which it gets. */
  takes?(text: string): boolean;
  run(text: string): void;
}

/** Commands of which every typed word begins a word, the ones that begin with the text first. */
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

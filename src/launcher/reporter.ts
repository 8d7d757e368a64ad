/** Reports to the person at the terminal in aligned lines, with colours on terminals only. */
export interface Reporter {
  title(text: string): void;
  /** Reports a finished step, its result and duration. */
  step(name: string, detail: string, tookMs: number): void;
  /** Reports anything else that is worth knowing. */
  note(name: string, text: string): void;
  /** Prints lines as they are. */
  lines(text: string): void;
}

const NAME_WIDTH = 10;
const DETAIL_WIDTH = 56;

export interface OutputStream {
  write(text: string): unknown;
  isTTY?: boolean;
}

/** @param colours False to follow `NO_COLOR`. */
export function createReporter(output: OutputStream, colours = output.isTTY ?? false): Reporter {
  const paint = (code: number, text: string): string => (colours ? `\x1b[${code}m${text}\x1b[0m` : text);
  const bold = (text: string): string => paint(1, text);
  const dim = (text: string): string => paint(2, text);
  const print = (text: string): void => {
    output.write(`${text}\n`);
  };
  return {
    title: (text) => print(`\n${bold(text)}\n`),
    step: (name, detail, tookMs) =>
      print(
        `  ${name.padEnd(NAME_WIDTH)}  ${detail.padEnd(DETAIL_WIDTH)} ${dim(`${(tookMs / 1000).toFixed(1)} s`)}`,
      ),
    note: (name, text) => print(`  ${name.padEnd(NAME_WIDTH)}  ${paint(33, text)}`),
    lines: print,
  };
}

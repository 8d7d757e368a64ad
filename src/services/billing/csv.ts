type Cell = string | number | boolean | null;

/** What makes spreadsheets take a cell for a formula (requirement T30), in full width too. */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/;

/** A negative number isn't a formula. */
const NUMBER = /^-\d+(?:\.\d+)?$/;

/** One line of CSV (RFC 4180). Null is empty; a text that a spreadsheet would run as a formula gets a leading `'`. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  const text = FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

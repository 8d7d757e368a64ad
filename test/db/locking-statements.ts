/** Tables that every call writes to, and that grow without end. */
const TABLE = /^alter table (?:if exists )?(?:only )?(?:public\.)?"?(calls|ledger_entries)"? /i;
const CHECKS_ROWS = /\b(?:check|foreign key|references)\b/i;
const READS_ALL = /\bset not null\b/i;
const VALIDATES = /\bvalidate constraint\b/i;
const NOT_VALID = /\bnot valid$/i;

/** The actions of an `alter table`, split at the commas outside of brackets. */
function actionsOf(statement: string): string[] {
  const actions = [''];
  let depth = 0;
  for (const character of statement) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) actions.push('');
    else actions[actions.length - 1] += character;
  }
  return actions.map((action) => action.trim());
}

/**
 * The statements that read a whole table of that kind while its writers wait. Adding a `not valid` check reads nothing,
 * and its validation blocks nobody, unless one transaction does both.
 */
export function lockingStatements(sql: readonly string[]): string[] {
  const statements = sql
    .flatMap((text) => text.split(';'))
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => TABLE.test(statement));
  const addsSome = statements.some((statement) => NOT_VALID.test(statement));
  return statements.filter((statement) =>
    actionsOf(statement.replace(TABLE, '')).some((action) => {
      if (VALIDATES.test(action)) return addsSome;
      if (READS_ALL.test(action)) return true;
      return /^add\b/i.test(action) && CHECKS_ROWS.test(action) && !NOT_VALID.test(action);
    }),
  );
}

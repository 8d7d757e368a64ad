import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/**
 * The oddest forms of the corpus in test/wire/forms, with the call that gets each; docs/conformance.md says why these. The tests of
 * SDKs in test/clients read the same list.
 */
const ODDEST = JSON.parse(readFileSync(new URL('oddest-forms.json', import.meta.url), 'utf8'));

/**
 * Lets an SDK make calls that the node answers oddly. Each must end with what the corpus says its caller gets: the whole answer, or
 * an error that isn't the SDK's own breakdown. `calls` has `chat` and `stream`, which take a prompt and resolve to the text, and
 * `embed`, which takes a text and resolves to its vector; those that the SDK lacks are left out.
 */
export async function checkForms(checks, calls) {
  const { readNodeForm } = await import('../../dist/proxy/simulator/forms.js');
  for (const [name, kind] of Object.entries(ODDEST)) {
    const call = calls[kind];
    if (!call) continue;
    await checks.check(`form ${name}`, async () => {
      const { caller } = await readNodeForm(name);
      const ended = call(`[[sim form=${name}]] Hello`);
      if (caller.error === undefined) assert.deepEqual(await ended, caller.text ?? caller.vectors[0]);
      else await assert.rejects(ended, isNoBreakdown);
    });
  }
}

/** Not of an SDK that reads what isn't there, or JSON that isn't JSON. */
function isNoBreakdown(error) {
  assert.ok(!(error instanceof TypeError || error instanceof SyntaxError), String(error));
  return true;
}

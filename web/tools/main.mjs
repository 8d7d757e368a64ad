/**
 * Builds web/ into dist/web. Run by scripts/bootstrap.mjs, on the Node that the packages bring:
 * typed documents, one bundle per page, budgets, compressed copies, manifest.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { checkBudgets } from './budgets.mjs';
import { bundle } from './bundle.mjs';
import { generateDocuments } from './documents.mjs';
import { writeOutput } from './output.mjs';
import { output } from './paths.mjs';

// One build at a time: scripts/bootstrap.mjs holds its lock.
const draft = `${output}.draft`;
try {
  rmSync(draft, { recursive: true, force: true });
  const documents = await generateDocuments();
  const { files, inputs } = await bundle();
  const report = checkBudgets(files);
  mkdirSync(draft, { recursive: true });
  await writeOutput(draft, { files, inputs, documents });
  rmSync(output, { recursive: true, force: true });
  renameSync(draft, output);
  for (const line of report) process.stdout.write(`${line}\n`);
} catch (error) {
  process.stderr.write(`${error.budget ? error.message : (error.stack ?? error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(draft, { recursive: true, force: true });
}

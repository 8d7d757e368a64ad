import { build } from 'vite';
import { fromRoot, root } from './paths.mjs';

/**
 * Bundles all pages in memory.
 * @returns files (Vite's output) and inputs: sources outside web/ that were read, whose change needs another build.
 */
export async function bundle() {
  // Whatever the variable is: with another value, Vite would bundle React's development version.
  process.env.NODE_ENV = 'production';
  const inputs = new Set();
  const add = (id) => {
    const path = id.split('?')[0];
    if (path.startsWith(`${root}/src/`)) inputs.add(fromRoot(path));
  };
  /** Modules of the entries that are bundled separately. */
  let alone = new Set();
  const collect = {
    name: 'collect-inputs',
    configResolved({ plugins }) {
      alone = plugins.find(({ name }) => name === 'first-scripts').api.read;
    },
    moduleParsed: ({ id }) => add(id),
  };
  const { output: files } = await build({
    configFile: `${root}/web/vite.config.mjs`,
    logLevel: 'warn',
    plugins: [collect],
    build: { write: false },
  });
  for (const id of alone) add(id);
  return { files, inputs: [...inputs].sort() };
}

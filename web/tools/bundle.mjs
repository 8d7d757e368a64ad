import { build } from 'vite';
import { fromRoot, root } from './paths.mjs';

/**
 * Bundles all pages in memory.
 * @returns files (Vite's output) and inputs: sources outside web/ that were read, so that a change of them builds anew.
 */
export async function bundle() {
  // Whatever the variable says of this run: with another value React would come in its development form.
  process.env.NODE_ENV = 'production';
  const inputs = new Set();
  const collect = {
    name: 'collect-inputs',
    moduleParsed({ id }) {
      const path = id.split('?')[0];
      if (path.startsWith(`${root}/src/`)) inputs.add(fromRoot(path));
    },
  };
  const { output: files } = await build({
    configFile: `${root}/web/vite.config.mjs`,
    logLevel: 'warn',
    plugins: [collect],
    build: { write: false },
  });
  return { files, inputs: [...inputs].sort() };
}

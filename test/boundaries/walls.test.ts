import { createRequire } from 'node:module';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { compiledFiles, ownImports } from './loaded-modules.js';

const rules = createRequire(import.meta.url)('../../../.dependency-cruiser.cjs');

describe('the import graph', () => {
  test('keeps the walls of the architecture, and is really seen', async () => {
    const { output } = await cruise(['build/src'], {
      ...rules.options,
      ruleSet: { forbidden: rules.forbidden },
      validate: true,
    });
    const { summary } = output as ICruiseResult;
    // With TypeScript 7 a run over the sources reports success on no module at all.
    expect(summary.totalCruised).toBeGreaterThan(50);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  test('has no cycle', () => {
    const graph = new Map(compiledFiles().map((file) => [file, ownImports(file)]));
    expect(graph.size).toBeGreaterThan(50);
    const done = new Set<string>();
    const visit = (file: string, path: string[]): void => {
      if (path.includes(file))
        throw new Error(`a cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
      if (done.has(file)) return;
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of graph.keys()) visit(file, []);
    expect(done.size).toBeGreaterThanOrEqual(graph.size);
  });
});

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { addTypenameSelectionDocumentTransform, preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { buildASTSchema, parse } from 'graphql';
import { fromRoot, generated, root } from './paths.mjs';

const PERSISTED = 'persisted-documents.json';
const TYPED = 'graphql.ts';

/** How the server's scalars look in JSON. */
const SCALARS = { Decimal: 'string', DateTime: 'string', UUID: 'string' };

function readDocuments() {
  return readdirSync(join(root, 'web'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.graphql'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => {
      const rawSDL = readFileSync(path, 'utf8');
      return { location: fromRoot(path), rawSDL, document: parse(rawSDL) };
    });
}

/** A document without its text: its id, and what kind of operation it is. No query is ever downloaded. */
function withoutText(documentId, text) {
  const [, operation] = /^(\w+)/.exec(text);
  const selectionSet = { kind: 'SelectionSet', selections: [] };
  const definitions = [{ kind: 'OperationDefinition', operation, selectionSet }];
  return JSON.stringify({ kind: 'Document', documentId, definitions });
}

/**
 * Makes the typed documents of every `.graphql` file below web/, checked against schema/schema.graphql.
 * @returns the manifest of persisted documents: SHA-256 of an operation → its text, `__typename` included.
 */
export async function generateDocuments() {
  const documents = readDocuments();
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(generated, { recursive: true });
  if (documents.length === 0) return {};
  const schema = parse(readFileSync(join(root, 'schema/schema.graphql'), 'utf8'));
  const sections = await preset.buildGeneratesSection({
    baseOutputDir: `${generated}/`,
    schema,
    schemaAst: buildASTSchema(schema),
    documents,
    documentTransforms: [
      { name: 'typename', transformObject: addTypenameSelectionDocumentTransform, config: {} },
    ],
    config: { scalars: SCALARS, enumsAsTypes: true, useTypeImports: true, skipTypename: true },
    presetConfig: {
      fragmentMasking: false,
      persistedDocuments: {
        mode: 'replaceDocumentWithHash',
        hashPropertyName: 'documentId',
        hashAlgorithm: 'sha256',
      },
    },
    pluginContext: {},
    pluginMap: {},
    plugins: [],
  });
  const made = new Map();
  for (const section of sections) made.set(basename(section.filename), await codegen(section));
  const persisted = JSON.parse(made.get(PERSISTED));
  // The preset leaves `__meta__` with the id. Its `graphql()` isn't kept, which would tie every document to every page.
  const code = made
    .get(TYPED)
    .replaceAll(/\{"__meta__":\{"documentId":"(\w+)"\}\}/g, (_all, id) => withoutText(id, persisted[id]));
  writeFileSync(join(generated, TYPED), code);
  return Object.fromEntries(Object.entries(persisted).sort(([a], [b]) => (a < b ? -1 : 1)));
}

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addTypenameSelectionDocumentTransform, preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { buildASTSchema, parse } from 'graphql';
import { fromRoot, generated, root } from './paths.mjs';

const PERSISTED = 'persisted-documents.json';

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

/**
 * What the preset leaves of a document, its id, in the form that urql sends as `documentId`. No text of a query is ever
 * downloaded.
 */
const withId = (code) =>
  code.replaceAll(
    /\{"__meta__":\{"documentId":"(\w+)"\}\}/g,
    '{"kind":"Document","definitions":[],"documentId":"$1"}',
  );

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
  let persisted = {};
  for (const section of sections) {
    const content = await codegen(section);
    if (section.filename.endsWith(PERSISTED)) persisted = JSON.parse(content);
    // The preset's `graphql()` would tie every document to every page: pages import theirs by name.
    if (section.filename.endsWith('/graphql.ts')) writeFileSync(section.filename, withId(content));
  }
  return Object.fromEntries(Object.entries(persisted).sort(([a], [b]) => (a < b ? -1 : 1)));
}

import { escaped } from '../../lib/html.js';
import type { SitePage } from '../site.js';
import { operationAccess } from './api-access.js';
import { curlExample } from './api-example.js';
import { fieldsTable, row, typeWords } from './api-schema.js';
import { code, paragraph, prose, tableOf } from './html.js';
import { type ApiDocument, type ApiOperation, SCHEMAS, type Schema } from './openapi-types.js';

interface Entry {
  method: string;
  path: string;
  operation: ApiOperation;
}

const LEAD =
  'Every operation of the inference API under `/v1` and of the account API under `/api`, as this installation serves it.';

const entriesOf = ({ paths }: ApiDocument): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

const idOf = (tag: string): string => `tag-${tag.toLowerCase().replace(/\W+/g, '-')}`;

/** A body as HTML: a table of its members, or the name of a schema that is described below. */
function bodyHtml(schema: Schema, document: ApiDocument): string {
  const named = schema.$ref && document.components.schemas[schema.$ref.slice(SCHEMAS.length)];
  return fieldsTable(named || schema) ?? `<p>${typeWords(schema)}</p>`;
}

function operationHtml(entry: Entry, document: ApiDocument, baseUrl: string): string {
  const { method, path, operation } = entry;
  const parameters = operation.parameters ?? [];
  const body = Object.values(operation.requestBody?.content ?? {})[0];
  const answers = Object.entries(operation.responses).map(([status, answer]) => {
    const schema = Object.values(answer.content ?? {})[0]?.schema;
    const isError = schema?.$ref === `${SCHEMAS}Error`;
    return [
      `<code>${status}</code>`,
      prose(answer.description ?? ''),
      schema && !isError ? typeWords(schema) : '',
    ];
  });
  return `<h3 id="${escaped(operation.operationId)}">${escaped(operation.summary)}</h3>
<p><code><b class="method">${method}</b> ${escaped(path)}</code> ${prose(operationAccess(operation).words)}</p>
${paragraph(operation.description)}
${
  parameters.length === 0
    ? ''
    : `<h4>Parameters</h4>${tableOf(
        ['name', 'type', 'meaning'],
        parameters.map((one) => row(one.name, one.schema, one.required === true, one.description)),
      )}`
}
${body ? `<h4>Body</h4>${bodyHtml(body.schema, document)}` : ''}
${code(curlExample(entry, document, baseUrl))}
<h4>Answers</h4>${tableOf(['status', 'meaning', 'body'], answers)}`;
}

function schemaHtml([name, schema]: [string, Schema]): string {
  return `<h3 id="schema-${escaped(name)}">${escaped(name)}</h3>
${schema.description ? paragraph(schema.description) : ''}
${fieldsTable(schema) ?? `<p>${typeWords(schema)}</p>`}`;
}

/**
 * The API reference, made from the document that `/openapi.json` serves. `baseUrl` is the installation's public URL.
 */
export function apiReference(document: ApiDocument, baseUrl: string): SitePage {
  const entries = entriesOf(document);
  const groups = document.tags
    .map((tag) => ({ tag, entries: entries.filter(({ operation }) => operation.tags.includes(tag.name)) }))
    .filter((group) => group.entries.length > 0);
  const contents = groups.map(
    ({ tag, entries: own }) =>
      `<li><a href="#${idOf(tag.name)}"><b>${escaped(tag.name)}</b></a></li>${own
        .map(
          ({ operation }) =>
            `<li><a href="#${escaped(operation.operationId)}">${escaped(operation.summary)}</a></li>`,
        )
        .join('')}`,
  );
  const sections = groups.map(
    ({ tag, entries: own }) => `<section id="${idOf(tag.name)}"><h2>${escaped(tag.name)}</h2>
${paragraph(tag.description)}
${own.map((entry) => operationHtml(entry, document, baseUrl)).join('\n')}</section>`,
  );
  const schemas = Object.entries(document.components.schemas);
  return {
    path: '/docs/api',
    title: 'API reference',
    description: LEAD.replaceAll('`', ''),
    aside: `<nav aria-label="Operations"><ul>${contents.join('</ul><ul>')}<li><a href="#schemas"><b>Schemas</b></a></li></ul></nav>`,
    main: `${paragraph(LEAD)}
${document.info.description
  .split('\n\n')
  .map((text) => paragraph(text.replaceAll('\n', ' ')))
  .join('\n')}
<p>For programs: <a href="/openapi.json">the OpenAPI document</a>. In the examples <code>$TOKEN</code> is a session token and <code>$KEY</code> an API key. Other variables are named after what they hold.</p>
${sections.join('\n')}
<section id="schemas"><h2>Schemas</h2>
${schemas.map(schemaHtml).join('\n')}</section>`,
  };
}

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PromptsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import outlines from '../../outlines.json';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Pager } from '../../ui/pager';
import { SearchField } from '../../ui/search-field';
import { LivePrompts, usePromptChanged } from './live-prompts';
import { promptColumns } from './prompt-columns';
import { promptsSearch } from './prompts-search';

const CREATE = <ButtonLink to={paths.newPrompt}>Create prompt</ButtonLink>;

/** `/dashboard/prompts` */
export function PromptsPage(): ReactNode {
  return (
    <LivePrompts>
      <Prompts />
    </LivePrompts>
  );
}

function Prompts() {
  const { q, after } = useSearch({ from: '/signed-in/dashboard/prompts' });
  const navigate = useNavigate({ from: paths.prompts });
  const { data, error, awaiting, refresh } = usePageQuery({
    query: PromptsDocument,
    variables: { search: q ?? null, after: after ?? null },
    touches: ['Prompt', 'DeletePromptPayload'],
  });
  usePromptChanged(refresh);
  const page = data?.viewer?.prompts;
  const isEmpty = page?.nodes.length === 0 && q === undefined && after === undefined;
  // Only once the list has loaded: a link that then moves into the empty state would take the focus with it.
  const hasTools = !isEmpty && (page !== undefined || error !== null);
  return (
    <>
      <PageHead {...outlines['/dashboard/prompts']} tools={hasTools && CREATE} />
      {error && <LoadError error={error} onRetry={refresh} />}
      {page && !isEmpty && (
        <SearchField
          label="Search prompts"
          placeholder="Name, slug or description"
          value={q ?? ''}
          onChange={(text) => void navigate({ search: promptsSearch({ q: text }), replace: true })}
        />
      )}
      {(page || !error) && (
        <DataTable
          label="Prompts"
          columns={promptColumns}
          rows={page?.nodes}
          awaiting={awaiting}
          keyOf={({ id }) => id}
          empty={
            isEmpty ? (
              <Empty action={CREATE}>No prompts yet. Create one to keep its versions in one place.</Empty>
            ) : (
              'No prompt matches.'
            )
          }
        />
      )}
      <Pager
        newer={
          after !== undefined && (
            <Link to={paths.prompts} search={({ after: _after, ...before }) => before}>
              First page
            </Link>
          )
        }
        older={
          page?.pageInfo.hasNextPage && (
            <Link to={paths.prompts} search={(before) => ({ ...before, after: page.pageInfo.endCursor! })}>
              Next page
            </Link>
          )
        }
      />
    </>
  );
}

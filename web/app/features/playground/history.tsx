import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { PlaygroundHistoryDocument, type PlaygroundHistoryQuery } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { lazyPage } from '../../lazy-page';
import { paths } from '../../paths';
import { Choice } from '../../ui/choice';
import { type Column, DataTable } from '../../ui/data-table';
import { ErrorNote } from '../../ui/error-note';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { SearchField } from '../../ui/search-field';
import { Section } from '../../ui/section';
import { useFetched } from '../../use-fetched';
import classes from './playground.module.css';
import { playgroundSearch, searchOfSession } from './playground-search';

// Loaded on demand: the dialog is larger than the list.
const DeleteSession = lazyPage(() => import('./delete-session'), 'DeleteSession');

type Listed = NonNullable<PlaygroundHistoryQuery['viewer']>['playgroundSessions'][number];

const LISTS = [
  { value: 'all', label: 'All' },
  { value: 'shared', label: 'Shared' },
] as const;

const LAST = 50;
/** The most sessions that an account can share. */
const SHARED = 200;

const CHARACTERS = 120;

/** The first words of a prompt on one line. A character has at most two code units. */
const beginningOf = (text: string): string =>
  [...text.trimStart().slice(0, 2 * CHARACTERS)].slice(0, CHARACTERS).join('').replaceAll(/\s+/g, ' ').trim();

/** The last 50 sessions, or the shared ones. */
export function History({ current }: { current: string | undefined }) {
  const { shared = false, q = '' } = useSearch({ from: '/signed-in/dashboard/playground' });
  const navigate = useNavigate({ from: paths.playground });
  const { data, error, awaiting, refresh } = usePageQuery({
    query: PlaygroundHistoryDocument,
    variables: shared ? { shared, first: SHARED } : { shared: null, first: LAST },
    touches: ['PlaygroundSession', 'DeletePlaygroundSessionPayload'],
  });
  const [leaving, setLeaving] = useState<Listed>();
  const { fetchDialog, error: missing } = useFetched(DeleteSession);
  const askToDelete = async (session: Listed): Promise<void> => {
    if (await fetchDialog()) setLeaving(session);
  };
  const all = data?.viewer?.playgroundSessions;
  const wanted = q.toLowerCase();
  const found = all?.filter(({ prompt, models }) =>
    `${prompt}\n${models.join(' ')}`.toLowerCase().includes(wanted),
  );
  return (
    <Section
      title="History"
      tools={
        <Choice
          label="Which sessions"
          options={LISTS}
          value={shared ? 'shared' : 'all'}
          onChange={(list) =>
            void navigate({
              search: (before) => playgroundSearch({ ...before, shared: list === 'shared' }),
              replace: true,
            })
          }
        />
      }
    >
      {error && <LoadError error={error} onRetry={refresh} />}
      {missing && <ErrorNote error={missing} />}
      {(found || !error) && (
        <div>
          {all && all.length > 0 && (
            <SearchField
              label="Search history"
              placeholder="Words of the prompt, or a model"
              value={q}
              counted={`${found!.length} of ${all.length} ${all.length === 1 ? 'session' : 'sessions'}`}
              onChange={(text) =>
                void navigate({
                  search: (before) => playgroundSearch({ ...before, q: text }),
                  replace: true,
                })
              }
            />
          )}
          <DataTable
            label="Sessions"
            columns={columnsOf(current, (session) => void askToDelete(session))}
            rows={found}
            awaiting={awaiting}
            keyOf={({ id }) => id}
            empty={
              q !== ''
                ? 'No session matches.'
                : shared
                  ? 'No shared sessions yet.'
                  : 'No sessions yet. The last 50 are kept, and shared ones for longer.'
            }
          />
        </div>
      )}
      {leaving && (
        <Suspense>
          <DeleteSession
            session={leaving}
            words={beginningOf(leaving.prompt)}
            onClose={() => setLeaving(undefined)}
            onDeleted={(id) => {
              setLeaving(undefined);
              if (id === current) void navigate({ search: {} });
            }}
          />
        </Suspense>
      )}
    </Section>
  );
}

const columnsOf = (
  current: string | undefined,
  onDelete: (session: Listed) => void,
): readonly Column<Listed>[] => [
  {
    id: 'prompt',
    head: 'Prompt',
    whole: ({ prompt }) => beginningOf(prompt),
    phone: 1,
    cell: ({ id, prompt }) => (
      <Link
        to={paths.playground}
        search={(before) => searchOfSession(playgroundSearch(before), id)}
        aria-current={id === current ? 'true' : undefined}
        resetScroll
      >
        {beginningOf(prompt)}
      </Link>
    ),
  },
  {
    id: 'models',
    head: 'Models',
    whole: ({ models }) => models.join(', '),
    phone: 11,
    cell: ({ models }) => <span className={classes.names}>{models.join(', ')}</span>,
  },
  { id: 'shared', head: 'Shared', phone: 12, cell: ({ shared }) => (shared ? 'shared' : '') },
  { id: 'at', head: 'Started', phone: 13, cell: ({ createdAt }) => <Moment at={createdAt} ago /> },
  {
    id: 'actions',
    head: 'Actions',
    actions: true,
    phone: 19,
    cell: (session) => (
      <Button
        size="xs"
        variant="subtle"
        aria-label={`Delete ${beginningOf(session.prompt)}`}
        onClick={() => onDelete(session)}
      >
        Delete
      </Button>
    ),
  },
];

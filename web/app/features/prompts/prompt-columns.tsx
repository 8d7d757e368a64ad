import { Link } from '@tanstack/react-router';
import type { PromptRowFragment } from '../../../generated/graphql';
import { paths } from '../../paths';
import type { Column } from '../../ui/data-table';
import { Moment } from '../../ui/moment';
import classes from './prompts.module.css';

export const promptColumns: readonly Column<PromptRowFragment>[] = [
  {
    id: 'name',
    head: 'Name',
    whole: ({ name }) => name,
    phone: 1,
    cell: ({ id, name }) => (
      <Link to={paths.prompt} params={{ promptId: id }} search={{}}>
        {name}
      </Link>
    ),
  },
  {
    id: 'slug',
    head: 'Slug',
    whole: ({ slug }) => slug,
    phone: 11,
    cell: ({ slug }) => <span className={classes.slug}>{slug}</span>,
  },
  {
    id: 'description',
    head: 'Description',
    whole: ({ description }) => description ?? '',
    cell: ({ description }) => description,
  },
  {
    id: 'version',
    head: 'Active version',
    labelled: true,
    phone: 2,
    cell: ({ activeVersion, versionCount }) => `${activeVersion.version} of ${versionCount}`,
  },
  {
    id: 'updated',
    head: 'Updated',
    labelled: true,
    phone: 12,
    cell: ({ updatedAt }) => <Moment at={updatedAt} ago />,
  },
];

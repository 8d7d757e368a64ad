import { Button, NativeSelect } from '@mantine/core';
import { UsageFiltersDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { formatDay } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Unseen } from '../../ui/unseen';
import { withChosen } from '../../ui/with-chosen';
import { DEFAULT_WINDOW } from '../analytics/window';
import { WindowChoice } from '../analytics/window-choice';
import classes from './usage.module.css';
import { exportHref, type UsageSearch } from './usage-search';

interface UsageFiltersProps {
  search: UsageSearch;
  /** What of the filter changes; undefined clears. */
  onChange(change: { [Name in keyof UsageSearch]?: UsageSearch[Name] | undefined }): void;
}

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'success', label: 'Success' },
  { value: 'error', label: 'Error' },
];

/** Key, model, status and window; and the export of what they leave. */
export function UsageFilters({ search, onChange }: UsageFiltersProps) {
  const { data, error, refresh } = usePageQuery({
    query: UsageFiltersDocument,
    variables: {},
    touches: ['ApiKey', 'DeleteApiKeyPayload'],
  });
  const keys = (data?.viewer?.apiKeys.nodes ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const models = (data?.models ?? []).map(({ modelPublicName: name }) => ({ value: name, label: name }));
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      <div className={classes.filters}>
        <NativeSelect
          label="Key"
          data={withChosen([{ value: '', label: 'Any key' }, ...keys], search.key)}
          value={search.key ?? ''}
          onChange={({ currentTarget }) => onChange({ key: currentTarget.value || undefined })}
        />
        <NativeSelect
          label="Model"
          data={withChosen([{ value: '', label: 'Any model' }, ...models], search.model)}
          value={search.model ?? ''}
          onChange={({ currentTarget }) => onChange({ model: currentTarget.value || undefined })}
        />
        <NativeSelect
          label="Status"
          data={STATUSES}
          value={search.status ?? ''}
          onChange={({ currentTarget }) =>
            onChange({ status: (currentTarget.value || undefined) as UsageSearch['status'] })
          }
        />
        {search.day ? (
          <Button variant="default" onClick={() => onChange({ day: undefined })}>
            <Unseen>Remove filter </Unseen>
            {formatDay(search.day)}, UTC <span aria-hidden="true">×</span>
          </Button>
        ) : (
          <WindowChoice
            value={search.window ?? DEFAULT_WINDOW}
            onChange={(days) => onChange({ window: days })}
          />
        )}
        <Button component="a" variant="default" href={exportHref(search)} download="usage.csv">
          Export CSV
        </Button>
      </div>
    </>
  );
}

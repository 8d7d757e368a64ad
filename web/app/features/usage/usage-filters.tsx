import { Button, NativeSelect } from '@mantine/core';
import { useQuery } from 'urql';
import { UsageFilterKeyDocument, type UsageFiltersQuery } from '../../../generated/graphql';
import { DownloadButton } from '../../ui/download-button';
import { formatDay } from '../../ui/format';
import { Unseen } from '../../ui/unseen';
import { withChosen } from '../../ui/with-chosen';
import { DEFAULT_WINDOW } from '../analytics/window';
import { WindowChoice } from '../analytics/window-choice';
import classes from './usage.module.css';
import { exportHref, type UsageSearch } from './usage-search';

interface UsageFiltersProps {
  search: UsageSearch;
  /** The options; undefined while loading. */
  choices: UsageFiltersQuery | undefined;
  /** Called with the changed parameters; undefined clears one. */
  onChange(change: { [Name in keyof UsageSearch]?: UsageSearch[Name] | undefined }): void;
}

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'success', label: 'Success' },
  { value: 'error', label: 'Error' },
];

/** The name of a filtered key that isn't among the options; undefined for a deleted key, or without such a key. */
function useNameOf(id: string | undefined, choices: UsageFiltersQuery | undefined): string | undefined {
  const isListed = choices?.viewer?.apiKeys.nodes.some((key) => key.id === id) ?? true;
  const pause = id === undefined || isListed;
  const [{ data }] = useQuery({ query: UsageFilterKeyDocument, variables: { id: id ?? '' }, pause });
  const key = data?.viewer?.apiKey;
  return key && key.id === id ? key.name : undefined;
}

/** Filters by key, model, status and window, and the export of the filtered calls. */
export function UsageFilters({ search, choices, onChange }: UsageFiltersProps) {
  const keys = (choices?.viewer?.apiKeys.nodes ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const chosenName = useNameOf(search.key, choices);
  const models = (choices?.models ?? []).map(({ modelPublicName: name }) => ({ value: name, label: name }));
  return (
    <div className={classes.filters}>
      <NativeSelect
        label="Key"
        data={withChosen([{ value: '', label: 'Any key' }, ...keys], search.key, chosenName)}
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
      <DownloadButton href={exportHref(search)} download="usage.csv">
        Export CSV
      </DownloadButton>
    </div>
  );
}

import { Link, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { KeyDocument, type KeyRowFragment } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { PageHead } from '../../ui/page-head';
import { PageTabs } from '../../ui/page-tabs';
import { Waiting } from '../../ui/waiting';
import { KeyAlerts } from '../alerts/key-alerts';
import { LatestRefusalOfKey } from '../refusals/latest-refusal';
import { DeleteKey } from './delete-key';
import { KeyAnalytics } from './key-analytics';
import { KeyCaps } from './key-caps';
import { shownKey } from './key-facts';
import { GuardNote } from './key-guard';
import { KeySwitch } from './key-switch';
import classes from './keys.module.css';
import { KEY_TABS, type KeyTab } from './keys-search';
import { Snippets } from './snippets';

const REFRESH_MS = 2_000;

/** `/dashboard/keys/{id}` */
export function KeyPage(): ReactNode {
  const { keyId } = useParams({ from: '/signed-in/dashboard/keys/$keyId' });
  // The React key resets all state for another API key: nothing of this one may be shown or undone there.
  return <KeyById key={keyId} keyId={keyId} />;
}

function KeyById({ keyId }: { keyId: string }) {
  const { tab = 'snippets' } = useSearch({ from: '/signed-in/dashboard/keys/$keyId' });
  const { data, error, refresh } = usePageQuery({ query: KeyDocument, variables: { id: keyId } });
  useRefreshOnUsage(refresh, REFRESH_MS);
  const key = data?.viewer?.apiKey;
  const gone = error?.code === 'not_found';
  return (
    <>
      <Link to={paths.keys} className={classes.back}>
        ← API keys
      </Link>
      {error && !gone && !key && <PageHead title="API key" />}
      {error && !gone && <LoadError error={error} onRetry={refresh} />}
      {gone && (
        <PageHead
          title="Key not found"
          lead="It was deleted, or the URL is wrong. Its calls stay in the usage list."
        />
      )}
      {!key && !error && <Waiting width={240} height={32} />}
      {key && !gone && (
        <>
          <KeyHead apiKey={key} />
          <GuardNote apiKey={key} />
          <LatestRefusalOfKey keyId={key.id} />
          <Tabs keyId={key.id} tab={tab} />
          <Tab apiKey={key} tab={tab} />
        </>
      )}
    </>
  );
}

function KeyHead({ apiKey }: { apiKey: KeyRowFragment }) {
  return (
    <PageHead
      title={apiKey.name}
      lead={
        <>
          <span className={classes.prefix}>{shownKey(apiKey)}</span>, created <Moment at={apiKey.createdAt} />
          {apiKey.lastUsedAt ? (
            <>
              , last used <Moment at={apiKey.lastUsedAt} ago />
            </>
          ) : (
            ', never used'
          )}
          {!apiKey.hasUpstream &&
            '. It has no upstream virtual key: calls fail with 503 upstream_unconfigured. Create another key.'}
        </>
      }
      tools={
        <div className={classes.head}>
          <KeySwitch apiKey={apiKey} />
          <DeleteKey apiKey={apiKey} />
        </div>
      }
    />
  );
}

function Tabs({ keyId, tab }: { keyId: string; tab: KeyTab }) {
  return (
    <PageTabs label="About this key">
      {KEY_TABS.map(({ id, label }) => (
        <Link
          key={id}
          to={paths.key}
          params={{ keyId }}
          search={({ after: _after, ...before }) => ({ ...before, tab: id })}
          activeProps={{}}
          aria-current={id === tab ? 'page' : undefined}
          replace
        >
          {label}
        </Link>
      ))}
    </PageTabs>
  );
}

function Tab({ apiKey, tab }: { apiKey: KeyRowFragment; tab: KeyTab }) {
  if (tab === 'analytics') return <KeyAnalytics keyId={apiKey.id} />;
  if (tab === 'caps') return <KeyCaps apiKey={apiKey} />;
  if (tab === 'alerts') return <KeyAlerts apiKey={apiKey} />;
  return <Snippets />;
}

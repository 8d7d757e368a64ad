import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { UpdateWidgetDocument, WidgetDocument, type WidgetRowFragment } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { useAction } from '../../graphql/use-action';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { CodeBlock } from '../../ui/code-block';
import { Elsewhere } from '../../ui/elsewhere';
import { LoadError } from '../../ui/load-error';
import { Note } from '../../ui/note';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { useMergedForm } from '../../ui/use-merged-form';
import { Waiting } from '../../ui/waiting';
import { DeleteWidget } from './delete-widget';
import { NewWidget } from './new-widget';
import { Preview } from './preview';
import { RotateKey } from './rotate-key';
import { useWidgetFacts, type WidgetFacts } from './use-widget-facts';
import { changeOf, draftOf, FIELD_NAMES, storedWidget, widgetField } from './widget-draft';
import { WidgetForm } from './widget-form';
import { WidgetUsage } from './widget-usage';
import classes from './widgets.module.css';

const REFRESH_MS = 2_000;

/** `/dashboard/widgets/{id}`, and `/dashboard/widgets/new` */
export function WidgetPage(): ReactNode {
  const { widgetId } = useParams({ from: '/signed-in/dashboard/widgets/$widgetId' });
  const { facts, error, refresh } = useWidgetFacts();
  return (
    <>
      <Link to={paths.widgets} className={classes.back}>
        ← Widgets
      </Link>
      {error && !facts && (
        <>
          <PageHead title="Widget" />
          <LoadError error={error} onRetry={refresh} />
        </>
      )}
      {!facts && !error && <Waiting width={240} height={32} />}
      {facts &&
        (widgetId === 'new' ? (
          <NewWidget facts={facts} />
        ) : (
          <KnownWidget key={widgetId} id={widgetId} facts={facts} />
        ))}
    </>
  );
}

function KnownWidget({ id, facts }: { id: string; facts: WidgetFacts }) {
  const { data, error, refresh } = usePageQuery({ query: WidgetDocument, variables: { id } });
  useRefreshOnUsage(refresh, REFRESH_MS);
  const widget = data?.viewer?.widget;
  if (error?.code === 'not_found') {
    return <PageHead title="Widget not found" lead="It was deleted, or the URL is wrong." />;
  }
  return (
    <>
      {error && !widget && <PageHead title="Widget" />}
      {error && <LoadError error={error} onRetry={refresh} />}
      {!widget && !error && <Waiting width={240} height={32} />}
      {widget && <Widget widget={widget} facts={facts} />}
    </>
  );
}

function Widget({ widget, facts }: { widget: WidgetRowFragment; facts: WidgetFacts }) {
  const { run, error, sending, forget } = useAction(UpdateWidgetDocument);
  const now = draftOf(widget, facts);
  const edit = useMergedForm(widgetField(widget.id), now, storedWidget);
  const { form: draft } = edit;
  const isOld = edit.conflicts.length > 0 && !sending;
  const [saved, setSaved] = useState(false);
  const save = async (): Promise<void> => {
    setSaved(false);
    if (isOld) return;
    const change = changeOf(edit.base, draft);
    const { data } = change
      ? await run({ input: { id: widget.id, ...change } })
      : { data: { updateWidget: { widget } } };
    setSaved(data !== undefined);
    if (data) edit.saved(draft, draftOf(data.updateWidget.widget, facts));
  };
  const tag = `<script src="${facts.installation?.publicBaseUrl ?? location.origin}/widget/v1.js" data-pr-widget="${widget.publicKey}" async></script>`;
  return (
    <>
      <PageHead
        title={widget.name}
        lead={`Answered by ${widget.modelPublicName}.`}
        tools={
          <div className={classes.tools}>
            <RotateKey widget={widget} />
            <DeleteWidget widget={widget} />
          </div>
        }
      />
      <Section title="Script tag">
        <p className={classes.hint}>
          Paste it before the end of the body of every page that should have the chat.
        </p>
        <CodeBlock label="HTML of the script tag" code={tag} what="script tag" />
      </Section>
      <WidgetUsage widget={widget} />
      <Section title="Settings">
        {saved && !edit.isEdited && (
          <Note tone="good">Saved. Pages show the change when they are loaded again.</Note>
        )}
        {isOld && (
          <Elsewhere
            what="The widget"
            now={`Changed there and here: ${edit.conflicts.map((field) => FIELD_NAMES[field]).join(', ')}.`}
            onKeep={() => {
              forget();
              edit.keep();
            }}
            onDiscard={() => {
              forget();
              edit.discard();
            }}
          />
        )}
        <div className={classes.sides}>
          <WidgetForm
            facts={facts}
            draft={draft}
            onChange={(change) => {
              setSaved(false);
              edit.change(change);
            }}
            onDiscard={
              edit.isEdited
                ? () => {
                    forget();
                    edit.forget();
                  }
                : undefined
            }
            save={save}
            button="Save"
            error={error?.code === 'changed_meanwhile' ? null : error}
            sending={sending}
          />
          <Preview draft={draft} publicKey={widget.publicKey} />
        </div>
      </Section>
    </>
  );
}

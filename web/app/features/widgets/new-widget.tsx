import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { CreateWidgetDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { leaveDraft } from '../../ui/draft';
import { useFormDraft } from '../../ui/form-draft';
import { PageHead } from '../../ui/page-head';
import { useIsHere } from '../../ui/use-is-here';
import { typedSince } from '../../ui/use-merged-form';
import { Preview } from './preview';
import type { WidgetFacts } from './use-widget-facts';
import { draftOf, inputOf, storedWidget, widgetField } from './widget-draft';
import { WidgetForm } from './widget-form';
import classes from './widgets.module.css';

/** `/dashboard/widgets/new`: ends with the page of the widget. */
export function NewWidget({ facts }: { facts: WidgetFacts }) {
  const navigate = useNavigate();
  const isHere = useIsHere();
  const { run, error, sending } = useAction(CreateWidgetDocument);
  const [typed, change, forget] = useFormDraft('new widget', storedWidget);
  const draft = typed ?? draftOf(undefined, facts);
  const latest = useRef(draft);
  latest.current = draft;
  const create = async (): Promise<void> => {
    const { data } = await run({ input: inputOf(draft) });
    if (!data) return;
    const { widget } = data.createWidget;
    // Text that was typed meanwhile becomes a draft of the new widget.
    const rest = typedSince(draft, latest.current, draftOf(widget, facts));
    if (rest) leaveDraft(widgetField(widget.id), JSON.stringify(rest));
    forget();
    if (isHere()) await navigate({ to: paths.widget, params: { widgetId: widget.id } });
  };
  return (
    <>
      <PageHead title="Create a widget" lead="A chat for your web pages, answered by a model." />
      <div className={classes.sides}>
        <WidgetForm
          facts={facts}
          draft={draft}
          onChange={change}
          onDiscard={typed && forget}
          save={create}
          button="Create widget"
          error={error}
          sending={sending}
        />
        <Preview draft={draft} />
      </div>
    </>
  );
}

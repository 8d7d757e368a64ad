import type { ReactNode } from 'react';
import { SharedQuestionDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { LoadError } from '../../ui/load-error';
import { Note } from '../../ui/note';
import { Waiting } from '../../ui/waiting';
import { useChatModels } from '../prompts/use-chat-models';
import classes from './playground.module.css';
import { NO_QUESTION, type QuestionFields, questionOf } from './playground-draft';

interface SharedQuestionProps {
  /** The slug of the public link. */
  slug: string;
  /** Renders the form with its first content. */
  draw(first: QuestionFields): ReactNode;
}

/** Loads the question of a shared session, with the models that the account's plan includes. */
export function SharedQuestion({ slug, draw }: SharedQuestionProps) {
  const { data, error, refresh } = usePageQuery({ query: SharedQuestionDocument, variables: { slug } });
  const { models, error: unread } = useChatModels();
  const shared = data?.sharedPlaygroundSession;
  if (error?.code === 'not_found') {
    return (
      <div className={classes.question}>
        <Note tone="plain">This session is no longer shared, so its prompt can’t be filled in.</Note>
        {draw(NO_QUESTION)}
      </div>
    );
  }
  if (error && !shared) return <LoadError error={error} onRetry={refresh} />;
  if (!shared || (models.length === 0 && !unread)) return <Waiting height={320} />;
  const allowed = new Set(models.flatMap(({ name, isAllowed }) => (isAllowed ? [name] : [])));
  const left = unread ? [] : shared.models.filter((name) => !allowed.has(name));
  const kept = shared.models.filter((name) => !left.includes(name));
  return (
    <div className={classes.question}>
      <Note tone="plain">
        This is the question of a shared session. Nothing is sent until you run it.
        {left.length > 0 && ` Your plan doesn’t include ${left.join(' and ')}.`}
      </Note>
      {draw({ ...questionOf(shared), models: kept.length > 0 ? kept : null })}
    </div>
  );
}

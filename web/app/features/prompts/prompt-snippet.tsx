import { useState } from 'react';
import { SnippetFactsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { Choice } from '../../ui/choice';
import { CodeBlock } from '../../ui/code-block';
import { LoadError } from '../../ui/load-error';
import { Waiting } from '../../ui/waiting';
import { PROMPT_LANGUAGES, type PromptLanguage, promptSnippet } from './prompt-snippet.rules';
import classes from './prompts.module.css';

interface PromptSnippetProps {
  slug: string;
  /** Names of the placeholders. */
  names: readonly string[];
  /** The model of the version. */
  model: string | null | undefined;
}

const FIRST_MODEL = 'gateway/fast';

/** Code that renders a prompt and sends it. */
export function PromptSnippet({ slug, names, model }: PromptSnippetProps) {
  const [language, setLanguage] = useState<PromptLanguage>('curl');
  const { data, error, refresh } = usePageQuery({ query: SnippetFactsDocument, variables: {} });
  const baseUrl = data?.installation?.publicBaseUrl;
  return (
    <div className={classes.stack}>
      <p className={classes.hint}>
        Rendering needs a session token: <a href="/docs/api#login">log in over the API</a> to get one as{' '}
        <code>access_token</code>. By default it is valid for an hour. The call needs an API key. The header{' '}
        <code>X-Gateway-Prompt-Version</code> counts it in this version’s statistics.
      </p>
      <Choice label="Language" options={PROMPT_LANGUAGES} value={language} onChange={setLanguage} />
      {error && !data && <LoadError error={error} onRetry={refresh} />}
      {baseUrl ? (
        <CodeBlock
          label="Snippet"
          code={promptSnippet(language, { baseUrl, slug, names, model: model ?? FIRST_MODEL })}
          what="snippet"
        />
      ) : (
        !error && <Waiting height={200} />
      )}
    </div>
  );
}

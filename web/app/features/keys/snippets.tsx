import { useState } from 'react';
import { KEY_VARIABLE } from '../../../../src/services/migration/snippets.rules';
import { SnippetFactsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { Choice } from '../../ui/choice';
import { CodeBlock } from '../../ui/code-block';
import { LoadError } from '../../ui/load-error';
import { Waiting } from '../../ui/waiting';
import classes from './keys.module.css';
import { LANGUAGES, type Language, snippet, snippetModel } from './snippets.rules';

/** A first call in three languages, with the key if it is known. */
export function Snippets({ secret }: { secret?: string | undefined }) {
  const [language, setLanguage] = useState<Language>('curl');
  const { data, error, refresh } = usePageQuery({ query: SnippetFactsDocument, variables: {} });
  const { viewer, models, installation } = data ?? {};
  const model = viewer && models && snippetModel(models, viewer.plan.allowedModels);
  if (error && !(installation && model)) return <LoadError error={error} onRetry={refresh} />;
  return (
    <div className={classes.snippets}>
      <Choice label="Language" options={LANGUAGES} value={language} onChange={setLanguage} />
      {installation && model ? (
        <CodeBlock
          label={`Snippet for ${LANGUAGES.find(({ value }) => value === language)!.label}`}
          code={snippet(language, { baseUrl: installation.publicBaseUrl, model, key: secret })}
          what="snippet"
        />
      ) : (
        <Waiting height={152} />
      )}
      {secret === undefined && (
        <p className={classes.hint}>
          Set the variable <code>{KEY_VARIABLE}</code> to your key, which was shown when you created it.
        </p>
      )}
    </div>
  );
}

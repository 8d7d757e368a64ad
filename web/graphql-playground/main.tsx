import './workers';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import 'graphiql/graphiql.css';
import '../theme/tokens.css';
import './playground.css';
import { GraphiQL } from 'graphiql';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { storedColorScheme } from '../theme/color-scheme';
import { examples } from './examples';
import { fetcher } from './fetcher';
import { SessionBar } from './session-bar';

const scheme = storedColorScheme();
/** GraphiQL leaves the variables of the first tab empty unless told; told again, it would open that tab anew. */
const firstVisit = sessionStorage.getItem('graphiql:tabState') === null;

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <SessionBar />
    <GraphiQL
      fetcher={fetcher}
      defaultTabs={examples}
      {...(firstVisit && { initialVariables: examples[0]!.variables })}
      defaultEditorToolsVisibility="variables"
      defaultTheme={scheme === 'auto' ? null : scheme}
      // Tabs, history and headers hold passwords and tokens: they go when the browser's tab is closed.
      storage={sessionStorage}
      shouldPersistHeaders
    >
      <GraphiQL.Logo> </GraphiQL.Logo>
    </GraphiQL>
  </StrictMode>,
);

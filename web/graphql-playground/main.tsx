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
import { initialContents } from './initial-contents';
import { SessionBar } from './session-bar';

const scheme = storedColorScheme();
const contents = initialContents();

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <SessionBar />
    <GraphiQL
      fetcher={fetcher}
      defaultTabs={examples}
      {...contents}
      defaultEditorToolsVisibility="variables"
      defaultTheme={scheme === 'auto' ? null : scheme}
      // Tabs, history and headers hold passwords and tokens: they are forgotten when the browser's tab is closed.
      storage={sessionStorage}
      shouldPersistHeaders
    >
      <GraphiQL.Logo> </GraphiQL.Logo>
    </GraphiQL>
  </StrictMode>,
);

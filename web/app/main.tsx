import './styles.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, startTransition, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { COLOR_SCHEME_KEY } from '../theme/color-scheme';
import { resolveVariables, theme } from '../theme/mantine';
import { router } from './router';
import { currentClient, onSessionChange, onSessionDoubt } from './session';

const colorSchemes = localStorageColorSchemeManager({ key: COLOR_SCHEME_KEY });

/** The nonce of this document (src/pages/web.routes.ts): styles made at run time carry it. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
// Read by the library that stops the page behind a dialog from scrolling.
Object.assign(globalThis, { __webpack_nonce__: nonce });

// Pages for signed-in users check the session again, and lead to the log-in if it has ended.
onSessionDoubt(() => void router.invalidate());

function App() {
  const client = useSyncExternalStore(onSessionChange, currentClient);
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      colorSchemeManager={colorSchemes}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <Provider value={client}>
        <RouterProvider router={router} />
      </Provider>
    </MantineProvider>
  );
}

const root = createRoot(document.getElementById('root')!);
// A transition is rendered in slices: a slow phone stays responsive during the first view.
startTransition(() =>
  root.render(
    <StrictMode>
      <App />
    </StrictMode>,
  ),
);

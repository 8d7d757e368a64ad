import '../theme/boot';
import { ViewerDocument } from '../generated/graphql';
import { askFirst } from './graphql/first-question';

// Which of its two outlines the document shows until its scripts are there (shell/static-shell.css).
const isDashboard = /^\/(?:dashboard|admin)(?:\/|$)/.test(location.pathname);
document.documentElement.dataset.shell = isDashboard ? 'dashboard' : 'entry';

// zod compiles its checks where it may, and tries by `eval`, which the policy of our pages reports. It is told before it
// comes: `z.config` would be too late for schemas that are made while modules load.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });

// Every page wants to know first who is signed in.
askFirst('/graphql', (ViewerDocument as unknown as { documentId: string }).documentId);

import '../theme/boot';
import { ViewerDocument } from '../generated/graphql';
import { askFirst } from './graphql/first-question';

// Selects the outline that the document shows until its scripts have loaded (shell/static-shell.css).
const isDashboard = /^\/(?:dashboard|admin)(?:\/|$)/.test(location.pathname);
document.documentElement.dataset.shell = isDashboard ? 'dashboard' : 'entry';

// zod tries `eval` to compile its checks, which the policy of our pages reports. This turns it off before zod loads: `z.config`
// would be too late for schemas that are made while modules load.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });

// Every page first needs to know who is signed in.
askFirst('/graphql', (ViewerDocument as unknown as { documentId: string }).documentId);

import type { ServiceDeps } from '../deps.js';
import type { InstallationOutput } from './installation.outputs.js';

/** Settings that are public and the same for every account. */
export function createInstallationService({ config }: Pick<ServiceDeps, 'config'>) {
  return {
    /** Public. */
    describe: (): InstallationOutput => ({
      public_base_url: config.publicBaseUrl,
      mail_configured: config.mail !== null,
    }),
  };
}

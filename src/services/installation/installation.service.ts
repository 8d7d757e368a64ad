import type { ServiceDeps } from '../deps.js';
import type { InstallationOutput } from './installation.outputs.js';

/** What is the same for every account of this installation, and no secret. */
export function createInstallationService({ config }: Pick<ServiceDeps, 'config'>) {
  return {
    /** Public. */
    describe: (): InstallationOutput => ({
      public_base_url: config.publicBaseUrl,
      mail_configured: config.mail !== null,
    }),
  };
}

export type InstallationService = ReturnType<typeof createInstallationService>;

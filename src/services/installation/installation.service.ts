import type { ServiceDeps } from '../deps.js';
import type { InstallationOutput } from './installation.outputs.js';

/** Public settings, which are the same for every account. */
export function createInstallationService({
  config,
  modelRoutes,
}: Pick<ServiceDeps, 'config' | 'modelRoutes'>) {
  return {
    /** Public. */
    describe: (): InstallationOutput => ({
      public_base_url: config.publicBaseUrl,
      mail_configured: config.mail !== null,
      simulated_models: modelRoutes.simulated(),
    }),
  };
}

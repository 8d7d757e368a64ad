import { installationOutput } from '../../services/installation/installation.outputs.js';
import { camelCased } from '../case.js';
import { query } from '../fields.js';
import { objectType } from '../zod-fields.js';

/** Public settings of the installation. */
export const installationResolvers = [
  query('installation', 'public', objectType('Installation', installationOutput), {
    description: 'Public settings of this installation.',
    run: ({ services }) => camelCased(services.installation.describe()),
  }),
];

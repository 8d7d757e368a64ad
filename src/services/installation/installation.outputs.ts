import { z } from 'zod';

export const installationOutput = z
  .object({
    public_base_url: z
      .string()
      .describe('Public base URL of the service, without a trailing slash. Append `/v1` for inference.'),
    mail_configured: z.boolean().describe('Whether email is configured: password reset links and alerts.'),
    simulated_models: z
      .array(z.string())
      .describe('Public names of the models that the bundled simulator answers, not a real model.'),
  })
  .describe('Public settings of this installation.');
export type InstallationOutput = z.infer<typeof installationOutput>;

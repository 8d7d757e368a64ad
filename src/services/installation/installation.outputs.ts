import { z } from 'zod';

export const installationOutput = z
  .object({
    public_base_url: z
      .string()
      .describe(
        'Address by which callers reach the service, without a slash at the end; `/v1` stands behind it.',
      ),
    mail_configured: z.boolean().describe('Whether it sends mail: links for forgotten passwords, alerts.'),
  })
  .describe('What callers have to know of this installation.');
export type InstallationOutput = z.infer<typeof installationOutput>;

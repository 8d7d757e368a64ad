import { z } from 'zod';

export const installationOutput = z
  .object({
    public_base_url: z
      .string()
      .describe('Public base URL of the service, without a trailing slash. Append `/v1` for inference.'),
  })
  .describe('Public settings of this installation.');
export type InstallationOutput = z.infer<typeof installationOutput>;

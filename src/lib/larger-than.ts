const KIB = 1024;
const MIB = 1024 * KIB;

/** Message for a body that exceeds its limit. */
export const largerThan = (limitBytes: number): string =>
  `The body is larger than ${limitBytes < MIB ? `${limitBytes / KIB} KiB` : `${limitBytes / MIB} MiB`}.`;

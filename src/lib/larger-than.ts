const KIB = 1024;
const MIB = 1024 * KIB;

/** Says that a body exceeds its limit, and which that is. */
export const largerThan = (limitBytes: number): string =>
  `The body is larger than ${limitBytes < MIB ? `${limitBytes / KIB} KiB` : `${limitBytes / MIB} MiB`}.`;

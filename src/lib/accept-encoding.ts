/** Supported encodings, the best first. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type ContentEncoding = (typeof ENCODINGS)[number];

/** Whether an `Accept-Encoding` header names an encoding and doesn't rule it out with `q=0`. */
export function acceptsEncoding(header: string | undefined, encoding: string): boolean {
  return (header ?? '').split(',').some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/** The best encoding that an `Accept-Encoding` header accepts; undefined if it accepts none. */
export const preferredEncoding = (header: string | undefined): ContentEncoding | undefined =>
  ENCODINGS.find((encoding) => acceptsEncoding(header, encoding));

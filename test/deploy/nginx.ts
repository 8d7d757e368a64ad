/** A directive of an nginx configuration; a block has `inner`. */
export interface Directive {
  name: string;
  args: string[];
  inner: Directive[];
}

/** Parses an nginx configuration: words, quotes, comments, blocks. @throws Error if it is invalid */
export function parseNginx(text: string): Directive[] {
  const tokens = text.match(/#[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{};]|[^\s{};]+/g) ?? [];
  const words = tokens.filter((token) => !token.startsWith('#'));
  let at = 0;
  const block = (nested: boolean): Directive[] => {
    const directives: Directive[] = [];
    let args: string[] = [];
    for (;;) {
      const word = words[at++];
      if (word === undefined) {
        if (nested || args.length > 0) throw new Error('it ends within a directive');
        return directives;
      }
      if (word === ';' || word === '{') {
        const [name, ...rest] = args;
        if (name === undefined) throw new Error(`"${word}" without a directive`);
        directives.push({ name, args: rest, inner: word === '{' ? block(true) : [] });
        args = [];
      } else if (word === '}') {
        if (!nested || args.length > 0) throw new Error('a brace too many');
        return directives;
      } else args.push(word.replace(/^(['"])(.*)\1$/s, '$2'));
    }
  };
  return block(false);
}

/** The directives of a name. */
export const all = (directives: readonly Directive[], name: string): Directive[] =>
  directives.filter((directive) => directive.name === name);

/** Arguments of the only directive with a name, joined; undefined without one. */
export const argsOf = (directives: readonly Directive[], name: string): string | undefined =>
  all(directives, name).at(-1)?.args.join(' ');

/**
 * Makes a value on first use. For the browser's formats: each takes milliseconds to make, and a page uses few of them.
 */
export function madeOnce<Thing>(make: () => Thing): () => Thing {
  let made: Thing | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

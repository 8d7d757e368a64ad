/**
 * Makes something when it is first wanted. For formats of the browser: each takes milliseconds to make, and a page shows few of
 * those that its modules know.
 */
export function madeOnce<Thing>(make: () => Thing): () => Thing {
  let made: Thing | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

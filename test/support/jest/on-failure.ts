/** What a test file has to say when one of its tests fails, before the hooks after the test clean up. */
const witnesses = new Set<() => Promise<void>>();

/** Registers a witness; the function that is returned removes it. */
export function onFailure(witness: () => Promise<void>): () => void {
  witnesses.add(witness);
  return () => void witnesses.delete(witness);
}

/** Lets all witnesses speak. One that fails says nothing. */
export async function hearWitnesses(): Promise<void> {
  await Promise.allSettled([...witnesses].map((witness) => witness()));
}

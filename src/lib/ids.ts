import { V7Generator } from 'uuidv7';

/** Random numbers come in batches: one by one, they would cost more than the rest of an id. */
const randoms = new Uint32Array(1024);
let used = randoms.length;

const generator = new V7Generator({
  nextUint32() {
    if (used === randoms.length) {
      crypto.getRandomValues(randoms);
      used = 0;
    }
    return randoms[used++]!;
  },
});

/** A new UUIDv7: sortable by creation time, otherwise unguessable. */
export const newId = (): string => generator.generate().toString();

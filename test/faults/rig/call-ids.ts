/**
 * Reads on the way from the edge to the model proxy which id each call of the driver has, because the proxy doesn't
 * forward it to its nodes.
 */
export class CallIds {
  readonly #ids = new Map<number, string>();
  /** Bytes received on a connection since its last recognized call. */
  readonly #texts = new WeakMap<object, string>();

  /** Bytes of one connection, in order. */
  readonly observe = (bytes: Buffer, connection: object): void => {
    const text = (this.#texts.get(connection) ?? '') + bytes.toString('latin1');
    const id = /x-request-id: ([\w-]+)/i.exec(text)?.[1];
    const order = /\\"n\\":(\d+)/.exec(text)?.[1];
    if (id === undefined || order === undefined) {
      this.#texts.set(connection, text);
      return;
    }
    this.#ids.set(Number(order), id);
    this.#texts.delete(connection);
  };

  of(order: number): string | undefined {
    return this.#ids.get(order);
  }
}

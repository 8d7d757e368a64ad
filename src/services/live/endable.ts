/** A waiting generator can't be ended from outside, so `end` first ends what it waits for. */
export function endable<T>(generator: AsyncGenerator<T, void>, end: () => void): AsyncIterableIterator<T> {
  return {
    async next() {
      try {
        const result = await generator.next();
        if (result.done) end();
        return result;
      } catch (error) {
        end();
        throw error;
      }
    },
    return() {
      end();
      return generator.return();
    },
    throw(error: unknown) {
      end();
      return generator.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

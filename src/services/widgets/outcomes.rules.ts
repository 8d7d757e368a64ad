/** The outcome of a message that was answered; that of a refused one is its error code. */
export const ANSWERED = 'answered';

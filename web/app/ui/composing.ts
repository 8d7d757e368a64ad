const OF_INPUT_METHOD = 229;

/** Whether a key belongs to an input method. In Safari only its code says so of the Enter that confirms a word. */
export const composes = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === OF_INPUT_METHOD;

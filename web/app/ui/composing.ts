const OF_INPUT_METHOD = 229;

/** Whether a key belongs to an input method. In Safari, the Enter that confirms a word is only recognized by its code. */
export const composes = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === OF_INPUT_METHOD;

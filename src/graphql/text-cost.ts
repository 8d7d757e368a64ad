/** Cost of a field whose values in one list may exceed 10,000 characters in total: each alias returns them again. */
export const TEXT_COST = 25;

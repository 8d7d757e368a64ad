/** Cost of a field that may hold more than 10,000 characters, in all entries of its list together: each alias tells them again. */
export const TEXT_COST = 25;

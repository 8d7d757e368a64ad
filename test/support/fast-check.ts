import fc from 'fast-check';
import { CI_SEED } from './seed.js';

if (CI_SEED !== undefined) fc.configureGlobal({ seed: CI_SEED });

export default fc;

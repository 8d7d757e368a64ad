/** What a process under test has of this one's environment: where programs lie, and what is compiled already. */
export const INHERITED_ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
};

/** The part of this environment that processes under test get: paths of programs, and the compile cache. */
export const INHERITED_ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
};

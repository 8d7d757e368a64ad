import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export interface Instruction {
  name: string;
  /** The arguments, with continued lines joined. */
  text: string;
}

/** The instructions of a Dockerfile, in order. */
export function parseDockerfile(text: string): Instruction[] {
  return text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
      return { name: name.toUpperCase(), text: rest.trim() };
    });
}

export interface Stage {
  name: string;
  image: string;
  /** The folder that represents `/` of the container. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  command: string[];
}

/** Replaces an install, which would need a network and minutes. */
export type Installer = (folder: string) => void;

export interface BuildOptions {
  dockerfile: string;
  /** The build context, and what .dockerignore excludes from it. */
  context: string;
  ignored: string[];
  /** Folder of the stages' file systems. */
  folder: string;
  /** What is prepared before a stage's first step. */
  prepared: Record<string, Installer>;
}

const run = promisify(execFile);
const BUILD_TIMEOUT_MS = 120_000;

/** Whether .dockerignore excludes a name in the context's root. Supports names and `*` only. */
const isIgnored = (name: string, ignored: readonly string[]): boolean =>
  ignored.some((pattern) =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(name),
  );

/**
 * Runs a Dockerfile outside of a container: each stage is a folder, COPY copies, RUN runs in the stage's
 * workdir with this machine's programs.
 * @throws Error on an instruction that it doesn't know
 */
export async function buildStages(options: BuildOptions): Promise<Map<string, Stage>> {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const { name, text } of parseDockerfile(readFileSync(options.dockerfile, 'utf8'))) {
    if (name === 'FROM') stage = newStage(text, options);
    if (!stage) throw new Error(`${name} before FROM`);
    stages.set(stage.name, stage);
    if (name === 'WORKDIR') enter(stage, text, options);
    else if (name === 'COPY') copy(stage, text, options, stages);
    else if (name === 'RUN') await runStep(stage, text);
    else if (name === 'ENV') Object.assign(stage.env, Object.fromEntries(pairs(text)));
    else if (name === 'USER') stage.user = text;
    else if (name === 'CMD') stage.command = JSON.parse(text) as string[];
    else if (name !== 'FROM' && name !== 'EXPOSE') throw new Error(`${name} is not understood`);
  }
  return stages;
}

const pairs = (text: string): [string, string][] =>
  text.split(/\s+/).map((pair) => pair.split(/=(.*)/s, 2) as [string, string]);

function newStage(text: string, { folder }: BuildOptions): Stage {
  const [, image, name] = /^(\S+) AS (\S+)$/i.exec(text) ?? [];
  if (!image || !name) throw new Error(`a stage without a name: ${text}`);
  const root = join(folder, name);
  mkdirSync(root, { recursive: true });
  return { name, image, root, workdir: '/', env: {}, user: 'root', command: [] };
}

function enter(stage: Stage, path: string, { prepared }: BuildOptions): void {
  stage.workdir = resolve(stage.workdir, path);
  mkdirSync(stage.root + stage.workdir, { recursive: true });
  prepared[stage.name]?.(stage.root + stage.workdir);
}

function copy(stage: Stage, text: string, options: BuildOptions, stages: Map<string, Stage>): void {
  const words = text.split(/\s+/);
  const flags = words.filter((word) => word.startsWith('--'));
  const paths = words.filter((word) => !word.startsWith('--'));
  const target = stage.root + resolve(stage.workdir, paths.pop()!);
  const from = flags.find((flag) => flag.startsWith('--from='))?.slice('--from='.length);
  if (from !== undefined && !stages.has(from)) throw new Error(`no stage ${from}`);
  for (const path of paths) {
    const source = from === undefined ? resolve(options.context, path) : stages.get(from)!.root + path;
    if (from === undefined && source === options.context) copyContext(target, options);
    // With several sources the target is a folder; one folder is copied as the target.
    else {
      const place = paths.length > 1 || target.endsWith(stage.workdir) ? join(target, path) : target;
      // Output of another stage is copied only once, so it can be moved, which is free.
      if (from === undefined) copyInto(source, place);
      else moveInto(source, place);
    }
  }
}

function copyContext(target: string, { context, ignored }: BuildOptions): void {
  for (const name of readdirSync(context)) {
    if (!isIgnored(name, ignored)) copyInto(join(context, name), join(target, name));
  }
}

function copyInto(source: string, target: string): void {
  if (!existsSync(source)) throw new Error(`COPY: there is no ${source}`);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(source, target, { recursive: true, verbatimSymlinks: true });
}

function moveInto(source: string, target: string): void {
  if (!existsSync(source)) throw new Error(`COPY: there is no ${source}, or it was copied before`);
  mkdirSync(dirname(target), { recursive: true });
  renameSync(source, target);
}

async function runStep(stage: Stage, text: string): Promise<void> {
  const cwd = stage.root + stage.workdir;
  if (/(?:^|\s)\//.test(text)) throw new Error(`RUN outside of the workdir: ${text}`);
  await run('sh', ['-ec', text], {
    cwd,
    env: { PATH: process.env.PATH, HOME: stage.root, ...stage.env },
    timeout: BUILD_TIMEOUT_MS,
  });
}

/**
 * The checkout's packages as a link, and a copy of its output. A build repeats only what was made of other files
 * than those of its context, because each output has the hash of its sources beside it.
 */
export const layOutBuild: Installer = (folder) => {
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  cpSync(resolve('dist'), join(folder, 'dist'), { recursive: true, preserveTimestamps: true });
};

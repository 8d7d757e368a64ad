import { type ChildProcess, spawn } from 'node:child_process';
import { CONFIG_EXIT_CODE, PORT_TAKEN_EXIT_CODE } from '../lib/lifecycle.js';
import { watchLiveness } from './liveness.js';
import { type RestartBackOff, Restarts } from './restarts.js';

export interface ChildSpec {
  /** Shown to the person. */
  name: string;
  /** Compiled file to run. */
  entry: string;
  env: NodeJS.ProcessEnv;
  /** Milliseconds that it may take to end after SIGTERM before it is killed. */
  stopPatienceMs: number;
  /** Milliseconds of silence after which it is killed once it has served; 0: never. */
  hungAfterMs: number;
}

export interface SuperviseOptions {
  /** Starts the process, with an IPC channel. */
  launch?(spec: ChildSpec): ChildProcess;

  /** One line for the person. */
  say(line: string): void;
  /** Called when the child ended, before it ever served, for a reason that a restart can't cure. */
  onFatal(name: string, code: number): void;
  /** Whether it takes the place of one that has served: then no reason is fatal, since others serve meanwhile. */
  hasServed?: boolean;
  backOff?: RestartBackOff;
}

export interface SupervisedChild {
  readonly name: string;
  /** Its address, once it said for the first time that it serves. Never settles for a child that is stopped before. */
  readonly ready: Promise<string | null>;
  pid(): number | undefined;
  /** Whether it has said so since it was last started. */
  serves(): boolean;
  /** Asks it to end, waits, kills it when its patience is over. Safe to call at any time and twice. */
  stop(): Promise<void>;
}

interface ReadyMessage {
  type: 'ready';
  url?: string;
}

interface NoteMessage {
  type: 'note';
  line: string;
}

const isOf = (message: unknown, type: string): boolean =>
  typeof message === 'object' && message !== null && (message as { type?: unknown }).type === type;
const isReady = (message: unknown): message is ReadyMessage => isOf(message, 'ready');
const isNote = (message: unknown): message is NoteMessage => isOf(message, 'note');

const reasonOf = (code: number | null): string =>
  code === PORT_TAKEN_EXIT_CODE ? 'another program uses its port' : `exit code ${code}`;

/** A Ctrl-C reaches a whole process group: only the launcher is in it, which ends the others in order. */
const launchDetached = ({ entry, env }: ChildSpec): ChildProcess =>
  spawn(process.execPath, [entry], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true });

/**
 * Runs a process and starts it again when it ends by itself, or is killed because it hangs. It gets an IPC channel, over which it
 * says `{ type: 'ready', url }` and `{ type: 'note', line }` for the person and answers pings, and whose end tells it that the
 * launcher is gone.
 */
export function supervise(spec: ChildSpec, options: SuperviseOptions): SupervisedChild {
  const { launch = launchDetached } = options;
  const restarts = new Restarts(options.backOff);
  let child: ChildProcess | undefined;
  let stopping: Promise<void> | undefined;
  let restart: NodeJS.Timeout | undefined;
  let readyAt: number | undefined;
  let endWatch = (): void => undefined;
  let hasServed = options.hasServed ?? false;
  let isMissed = false;
  let becameReady: (url: string | null) => void;
  const ready = new Promise<string | null>((done) => {
    becameReady = done;
  });

  const ended = (reason: string, code: number | null): void => {
    endWatch();
    const servedMs = readyAt === undefined ? undefined : performance.now() - readyAt;
    child = undefined;
    readyAt = undefined;
    if (stopping) return;
    if ((code === CONFIG_EXIT_CODE || code === PORT_TAKEN_EXIT_CODE) && !hasServed) {
      options.onFatal(spec.name, code);
      return;
    }
    isMissed = hasServed;
    const waitMs = restarts.pauseMs(servedMs);
    options.say(`${spec.name} exited (${reason}); restarting it in ${waitMs / 1000} s`);
    restart = setTimeout(start, waitMs);
  };

  const killHung = (): void => {
    options.say(`${spec.name} has not answered for ${spec.hungAfterMs / 1000} s, killing it`);
    child?.kill('SIGKILL');
  };

  const start = (): void => {
    const current = launch(spec);
    child = current;
    current.on('message', (message) => {
      if (isNote(message)) options.say(message.line);
      if (!isReady(message)) return;
      if (readyAt === undefined && !stopping) endWatch = watchLiveness(current, spec.hungAfterMs, killHung);
      readyAt ??= performance.now();
      if (isMissed) options.say(`${spec.name} is back`);
      isMissed = false;
      hasServed = true;
      becameReady(message.url ?? null);
    });
    // Without an 'exit' event when it could not even be started.
    current.on('error', (error) => {
      if (current.pid === undefined) ended(error.message, null);
    });
    current.on('exit', (code, signal) => ended(signal ?? reasonOf(code), code));
  };

  const end = async (): Promise<void> => {
    clearTimeout(restart);
    endWatch();
    const current = child;
    if (!current?.pid) return;
    const gone = new Promise<void>((done) => current.once('exit', () => done()));
    current.kill('SIGTERM');
    const killer = setTimeout(() => {
      options.say(`${spec.name} did not stop within ${spec.stopPatienceMs / 1000} s, killing it`);
      current.kill('SIGKILL');
    }, spec.stopPatienceMs);
    await gone;
    clearTimeout(killer);
  };

  start();
  return {
    name: spec.name,
    ready,
    pid: () => child?.pid,
    serves: () => readyAt !== undefined,
    stop() {
      stopping ??= end();
      return stopping;
    },
  };
}

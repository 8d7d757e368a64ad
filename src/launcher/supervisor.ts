import { type ChildProcess, spawn } from 'node:child_process';
import { CONFIG_EXIT_CODE, PING, PORT_TAKEN_EXIT_CODE } from '../lib/lifecycle.js';
import { type RestartBackOff, Restarts } from './restarts.js';

export interface ChildSpec {
  /** Shown in the launcher's output. */
  name: string;
  /** Compiled file to run. */
  entry: string;
  env: NodeJS.ProcessEnv;
  /** Milliseconds from SIGTERM to SIGKILL. */
  stopPatienceMs: number;
  /** Milliseconds of silence after which a child that has served is killed; 0: never. */
  hungAfterMs: number;
}

export interface SuperviseOptions {
  /** Starts the process, with an IPC channel. */
  launch?(spec: ChildSpec): ChildProcess;
  /** Prints one line. */
  say(line: string): void;
  /** Called if the child ends before it ever served, for a reason that a restart can't cure. */
  onFatal(name: string, code: number): void;
  /** Whether the child replaces one that has served. If so, no reason is fatal, since others serve meanwhile. */
  hasServed?: boolean;
  backOff?: RestartBackOff;
}

export interface SupervisedChild {
  readonly name: string;
  /** Resolves to the child's address when it first reports that it serves. Never settles if it is stopped before. */
  readonly ready: Promise<string | null>;
  pid(): number | undefined;
  /** Whether the child has reported that it serves since its last start. */
  serves(): boolean;
  /** Sends SIGTERM and, after `stopPatienceMs`, SIGKILL. Safe to call at any time and twice. */
  stop(): Promise<void>;
}

/** A child counts as hung after this many pings in a row without any message from it. */
const MAX_UNANSWERED_PINGS = 12;

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

/** Starts a process group of its own. A Ctrl-C then reaches the launcher only, which stops the children in order. */
const launchDetached = ({ entry, env }: ChildSpec): ChildProcess =>
  spawn(process.execPath, [entry], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true });

/**
 * Pings a child over its channel, and calls `onHung` after `hungAfterMs` without any message from it; 0: never. Counts pings
 * rather than time: if this process was frozen itself, or the machine slept, that is one unanswered ping, however long it took.
 * @returns A function that ends the watch.
 */
function watchLiveness(child: ChildProcess, hungAfterMs: number, onHung: () => void): () => void {
  if (hungAfterMs === 0) return () => undefined;
  let unanswered = 0;
  child.on('message', () => {
    unanswered = 0;
  });
  const timer = setInterval(() => {
    if (unanswered === MAX_UNANSWERED_PINGS) {
      clearInterval(timer);
      onHung();
      return;
    }
    unanswered++;
    // Without a callback, a channel that just closed would emit an error, which node:cluster throws.
    child.send(PING, undefined, undefined, () => undefined);
  }, hungAfterMs / MAX_UNANSWERED_PINGS).unref();
  return () => clearInterval(timer);
}

/**
 * Runs a process and restarts it when it ends by itself or hangs. The child sends `{ type: 'ready', url }`, `{ type: 'note',
 * line }` to be printed, and replies to pings over an IPC channel. When the channel closes, the launcher is gone.
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
    // A process that couldn't be started emits no 'exit' event.
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

import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { type Clock, sleep, systemClock } from '../time/clock.ts';
import { LastLines } from './last-lines.ts';
import { groupIsEmpty } from './process-group.ts';

export interface ChildSpec {
  /** Absolute path: children get no PATH to search. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All that the child gets to see; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Pipes beyond stdin, stdout and stderr: 2 makes file descriptors 3 (we write) and 4 (we read). */
  readonly extraPipes?: number;
  /**
   * Has the kernel kill the child when this process dies, however it dies. Reaches the direct child only, so give the
   * program itself, no wrapper script. Off where the child arranges it by itself.
   */
  readonly dieWithParent?: boolean;
}

/** How a child ended. */
export interface Ending {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines of its stderr. */
  readonly lastLines: readonly string[];
}

const SETPRIV = '/usr/bin/setpriv';
/** How long the last output of a program that has ended may take to be read, in ms. */
const LAST_WORDS_MS = 200;
/** How long a group's last members may take to vanish once they were killed, in ms, and how often one looks. */
const VANISH_MS = 2000;
const LOOK_MS = 5;

/**
 * A long-lived program in a process group of its own, so that it and all it starts can be ended as one.
 * @throws the system's error (ENOENT, EACCES) where the program can't be started
 */
export async function startChild(spec: ChildSpec): Promise<Child> {
  const wrapped = spec.dieWithParent !== false;
  await access(spec.command, constants.X_OK); // the wrapper would start all the same
  const command = wrapped ? SETPRIV : spec.command;
  const args = wrapped ? ['--pdeathsig', 'KILL', '--', spec.command, ...spec.args] : spec.args;
  const process = spawn(command, args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...Array<'pipe'>(spec.extraPipes ?? 0).fill('pipe')],
  });
  await new Promise<void>((resolve, reject) => {
    process.once('spawn', resolve);
    process.once('error', reject);
  });
  return new Child(process);
}

const running = new Set<Child>();

/** Kills every child that still runs, with all that it started, within this call: for a sudden end of the service. */
export function killAllChildren(): void {
  for (const child of running) child.kill();
}

export class Child {
  readonly pid: number;
  /** Settles once the program itself has ended; what it left running in its group is killed at that moment. */
  readonly ended: Promise<Ending>;
  readonly #process: ChildProcess;
  readonly #lastLines = new LastLines();
  #hasEnded = false;
  #groupHasEnded = false;
  #stdoutIsRead = false;

  constructor(process: ChildProcess) {
    this.#process = process;
    this.pid = process.pid ?? 0;
    running.add(this);
    process.on('error', () => {});
    for (const pipe of process.stdio) pipe?.on('error', () => {}); // EPIPE: the ending says it better
    process.stderr?.setEncoding('utf8').on('data', (piece: string) => this.#lastLines.push(piece));
    const lastWords = new Promise<void>(resolve => process.stderr?.once('close', resolve));
    this.ended = new Promise(resolve => {
      process.once('exit', async (exitCode, signal) => {
        this.#hasEnded = true;
        this.kill();
        running.delete(this);
        void this.#vanished();
        // What it wrote last may still be on its way; one that it started elsewhere may hold the pipe open for long.
        await Promise.race([lastWords, sleep(systemClock, LAST_WORDS_MS)]);
        resolve({ exitCode, signal, lastLines: this.#lastLines.toArray() });
      });
    });
    // Output that nobody reads would fill its pipe and then hold up the program.
    setImmediate(() => this.#stdoutIsRead || process.stdout?.resume());
  }

  get running(): boolean {
    return !this.#hasEnded;
  }

  get stdin(): Writable {
    return this.#process.stdin as Writable;
  }

  /** Ask for it at once: what nobody has asked for is thrown away. */
  get stdout(): Readable {
    this.#stdoutIsRead = true;
    return this.#process.stdout as Readable;
  }

  /** The extra pipe with this file descriptor in the child. */
  pipe(fd: number): Readable & Writable {
    return this.#process.stdio[fd] as unknown as Readable & Writable;
  }

  /** The last lines of stderr up to now. */
  lastLines(): readonly string[] {
    return this.#lastLines.toArray();
  }

  /** Kills the whole group at once (SIGKILL), or sends it another signal. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    if (this.#groupHasEnded) return; // its number may belong to somebody else by now
    try {
      globalThis.process.kill(-this.pid, signal);
    } catch {
      // ESRCH: nobody is left
    }
  }

  /**
   * Ends the group and settles when nobody of it is left: asks with SIGTERM, waits `graceMs`, then kills. A grace of
   * 0 kills at once.
   * @returns whether it had to be forced
   */
  async end(graceMs = 0, clock: Clock = systemClock): Promise<{ forced: boolean }> {
    let forced = this.running;
    if (forced && graceMs > 0) {
      this.kill('SIGTERM');
      const over = new AbortController();
      const late = sleep(clock, graceMs, over.signal).then(
        () => true,
        () => false,
      );
      forced = await Promise.race([this.ended.then(() => false), late]);
      over.abort();
    }
    this.kill();
    await this.ended;
    await this.#vanished();
    return { forced };
  }

  /** A grandchild tells nobody but its own parent that it has ended; its group's emptiness can only be looked at. */
  async #vanished(): Promise<void> {
    for (let waited = 0; waited < VANISH_MS && !this.#groupHasEnded; waited += LOOK_MS) {
      this.#groupHasEnded = await groupIsEmpty(this.pid);
      if (!this.#groupHasEnded) await sleep(systemClock, LOOK_MS);
    }
  }
}

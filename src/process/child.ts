import { type ChildProcess, spawn } from 'node:child_process';
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

/**
 * A long-lived program in a process group of its own, so that it and all it starts can be ended as one.
 * @throws the system's error (ENOENT, EACCES) where the program can't be started
 */
export async function startChild(spec: ChildSpec): Promise<Child> {
  const wrapped = spec.dieWithParent !== false;
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

  constructor(process: ChildProcess) {
    this.#process = process;
    this.pid = process.pid ?? 0;
    running.add(this);
    process.on('error', () => {});
    for (const pipe of process.stdio) pipe?.on('error', () => {}); // EPIPE: the ending says it better
    process.stderr?.setEncoding('utf8').on('data', (piece: string) => this.#lastLines.push(piece));
    this.ended = new Promise(resolve => {
      process.once('exit', (exitCode, signal) => {
        this.#hasEnded = true;
        this.kill();
        running.delete(this);
        resolve({ exitCode, signal, lastLines: this.#lastLines.toArray() });
      });
    });
  }

  get running(): boolean {
    return !this.#hasEnded;
  }

  get stdin(): Writable {
    return this.#process.stdin as Writable;
  }

  get stdout(): Readable {
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
    let forced = graceMs <= 0;
    if (!forced && this.running) {
      this.kill('SIGTERM');
      const over = new AbortController();
      forced = await Promise.race([
        this.ended.then(() => false),
        sleep(clock, graceMs, over.signal).then(
          () => true,
          () => false,
        ),
      ]);
      over.abort();
    }
    this.kill();
    await this.ended;
    // A grandchild tells nobody but its own parent that it has ended; its group's emptiness can only be looked at.
    for (let tries = 0; tries < 400 && !(await groupIsEmpty(this.pid)); tries += 1) await sleep(systemClock, 5);
    return { forced };
  }
}

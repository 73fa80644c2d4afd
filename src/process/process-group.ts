import { readdirSync, readFileSync } from 'node:fs';
import type { Usage } from '../supervise/types.ts';

/** One line of /proc: proc(5), `/proc/pid/stat`. */
export interface Stat {
  readonly pid: number;
  readonly state: string;
  readonly group: number;
  readonly cpuMs: number;
}

/** Ticks of the kernel's CPU accounting per second: USER_HZ, 100 on every architecture that Debian has. */
const MS_PER_TICK = 10;

/** Whether no living process is left in the group. Zombies don't count: they run nothing and hold nothing. */
export async function groupIsEmpty(group: number): Promise<boolean> {
  return (await membersOf(group)).length === 0;
}

/** What the living processes of a group use together; undefined where none is left. */
export async function groupUsage(group: number): Promise<Usage | undefined> {
  const members = living(snapshot(), group);
  if (members.length === 0) return undefined;
  return {
    residentBytes: members.reduce((sum, { pid }) => sum + privateResidentBytes(pid), 0),
    cpuMs: members.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    stopped: members.some(({ state }) => state === 'T'),
  };
}

/** The living processes of a group, as of now. */
export async function membersOf(group: number): Promise<Stat[]> {
  return living(scan(), group);
}

let lastScan: Stat[] | undefined;

/** One scan for all who ask in the same turn of the event loop: many instances are looked at together. */
function snapshot(): Stat[] {
  if (lastScan) return lastScan;
  setImmediate(() => {
    lastScan = undefined;
  });
  lastScan = scan();
  return lastScan;
}

/** /proc is read without promises: nothing of it waits for a disk, and a read costs a quarter so. */
function scan(): Stat[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => statOf(Number(pid)) ?? []);
}

function living(stats: readonly Stat[], group: number): Stat[] {
  return stats.filter(stat => stat.group === group && !/[ZX]/.test(stat.state));
}

function statOf(pid: number): Stat | undefined {
  const line = contentOf(`/proc/${pid}/stat`);
  if (line === undefined) return undefined;
  // The command's name stands in parentheses and may itself contain both spaces and parentheses.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: fields[0] ?? '',
    group: Number(fields[2]),
    cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK,
  };
}

/** Anonymous and shared-memory pages only: file pages such as a library's code are the system's to take back. */
function privateResidentBytes(pid: number): number {
  const status = contentOf(`/proc/${pid}/status`) ?? '';
  const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].map(match => Number(match[1]));
  return kilobytes.reduce((sum, value) => sum + value, 0) * 1024;
}

/** Undefined where the process has ended meanwhile. */
function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

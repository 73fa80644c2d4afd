import { readdir, readFile } from 'node:fs/promises';
import type { Usage } from '../supervise/types.ts';

/** One line of /proc: proc(5), `/proc/pid/stat`. */
interface Stat {
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
  const members = await membersOf(group);
  if (members.length === 0) return undefined;
  const resident = await Promise.all(members.map(member => privateResidentBytes(member.pid)));
  return {
    residentBytes: resident.reduce((sum, bytes) => sum + bytes, 0),
    cpuMs: members.reduce((sum, member) => sum + member.cpuMs, 0),
    stopped: members.some(member => member.state === 'T'),
  };
}

/** The living processes of a group. */
export async function membersOf(group: number): Promise<Stat[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map(pid => statOf(Number(pid))));
  return stats.filter(stat => stat !== undefined).filter(stat => stat.group === group && !/[ZX]/.test(stat.state));
}

async function statOf(pid: number): Promise<Stat | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
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
async function privateResidentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].map(match => Number(match[1]));
  return kilobytes.reduce((sum, value) => sum + value, 0) * 1024;
}

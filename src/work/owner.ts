import { readFile, readlink } from 'node:fs/promises';

/** Which process a temp folder belongs to, so that nobody takes away what is still in use. */
export interface Owner {
  readonly pid: number;
  /** In ticks since the machine's start: a pid is used again, pid and start time together are not. */
  readonly startTime: string;
  /** A pid means something only inside its namespace; a container has its own. */
  readonly pidNamespace: string;
  /** Which run of the machine the ticks belong to. */
  readonly bootId: string;
}

/** This process. */
export async function thisOwner(): Promise<Owner> {
  const [startTime, pidNamespace, bootId] = await Promise.all([
    startTimeOf(process.pid),
    readlink('/proc/self/ns/pid').catch(() => ''),
    readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => ''),
  ]);
  return { pid: process.pid, startTime: startTime ?? '', pidNamespace, bootId: bootId.trim() };
}

/** Whether it is certain that the owner's process has ended. A folder of another container or machine is never certain. */
export async function isProvablyDead(owner: Owner, self: Owner): Promise<boolean> {
  const comparable = self.bootId !== '' && owner.bootId === self.bootId;
  if (!comparable || self.pidNamespace === '' || owner.pidNamespace !== self.pidNamespace) return false;
  const startTime = await startTimeOf(owner.pid);
  return startTime === undefined || startTime !== owner.startTime;
}

/** Field 22 of proc(5) `/proc/pid/stat`; undefined where there is no such process, or only its zombie. */
async function startTimeOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The command's name stands in parentheses and may itself contain both spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields === undefined || fields[0] === 'Z' ? undefined : fields[19];
}

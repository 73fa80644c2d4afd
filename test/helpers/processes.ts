import { readdir, readFile } from 'node:fs/promises';

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly state: string;
}

/** Living descendants of a process, at any depth. Zombies count as ended. */
export async function childrenOf(pid: number): Promise<number[]> {
  const all = await entries();
  const found: number[] = [];
  const look = (parent: number) => {
    for (const entry of all.filter(candidate => candidate.parent === parent)) {
      found.push(entry.pid);
      look(entry.pid);
    }
  };
  look(pid);
  return found;
}

/** Which of these processes still live (as members of any state but zombie), or whose group still has members. */
export async function groupsOf(pids: readonly number[]): Promise<number[]> {
  const wanted = new Set(pids);
  const living = (await entries()).filter(entry => wanted.has(entry.pid) || wanted.has(entry.group));
  return living.map(entry => entry.pid);
}

/** Zombies below a process: nobody has waited for them. */
export async function zombiesOf(pid: number): Promise<number[]> {
  return (await entries(true)).filter(e => e.parent === pid && e.state === 'Z').map(e => e.pid);
}

async function entries(zombies = false): Promise<Entry[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')));
  return stats
    .filter(stat => stat !== '')
    .map(stat => {
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return {
        pid: Number.parseInt(stat, 10),
        state: fields[0] ?? '',
        parent: Number(fields[1]),
        group: Number(fields[2]),
      };
    })
    .filter(entry => zombies || !/[ZX]/.test(entry.state));
}

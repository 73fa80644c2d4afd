import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** What a process and those below it have used so far. */
export interface Costs {
  /** CPU ms of the process itself. */
  readonly ownMs: number;
  /** CPU ms of everything below it, what has ended included. */
  readonly enginesMs: number;
}

const MS_PER_TICK = 10;

/** Reads proc(5) `/proc/pid/stat` of a process and all its descendants. */
export function costsOf(pid: number): Costs {
  const all = readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
  const top = all.find(stat => stat.pid === pid);
  if (!top) throw new Error(`process ${pid} has ended`);
  const engines = descendants(pid, all).reduce((sum, stat) => sum + stat.ownMs + stat.reapedMs, top.reapedMs);
  return { ownMs: top.ownMs, enginesMs: engines };
}

/** Resident bytes of a process and all below it, shared pages divided among those who share them. */
export function memoryOf(pid: number): number {
  const all = readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
  return [pid, ...descendants(pid, all).map(stat => stat.pid)].reduce((sum, one) => sum + shareOf(one), 0);
}

/** The most that a process has held, in bytes; {@link forgetPeak} makes it count anew. */
export function peakOf(pid: number): number {
  return 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
}

/** proc(5), `/proc/pid/clear_refs`: 5 resets the peak to what is held now. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly ownMs: number;
  readonly reapedMs: number;
}

function descendants(pid: number, all: readonly Stat[]): Stat[] {
  return all.filter(stat => stat.parent === pid).flatMap(stat => [stat, ...descendants(stat.pid, all)]);
}

function statOf(pid: number): Stat | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const ms = (index: number) => Number(fields[index]) * MS_PER_TICK;
    return { pid, parent: Number(fields[1]), ownMs: ms(11) + ms(12), reapedMs: ms(13) + ms(14) };
  } catch {
    return undefined; // it has ended meanwhile
  }
}

function shareOf(pid: number): number {
  try {
    return 1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1]);
  } catch {
    return 0;
  }
}

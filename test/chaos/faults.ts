import { readFileSync } from 'node:fs';
import { childrenOf } from '../helpers/processes.ts';
import type { Service } from '../helpers/service.ts';
import { type Kind, send } from './traffic.ts';

/** One way to hurt the service. Gives the kind of work that it hits, or undefined where there was nothing to hit. */
export interface Fault {
  readonly name: string;
  readonly hits: Kind['name'];
  strike(service: Service, mark: string): Promise<boolean>;
}

/** Throw-away instances give a document its last chance: whoever kills them too asks for the 500 that comes. */
const SPARED = /extra\./;

const signalTo = (name: string, hits: Kind['name'], what: RegExp, signal: NodeJS.Signals): Fault => ({
  name,
  hits,
  async strike(service) {
    const pids = await childrenOf(service.process.pid ?? 0);
    const targets = pids.filter(pid => what.test(commandOf(pid)) && !SPARED.test(commandOf(groupOf(pid))));
    const target = targets[Math.floor(Math.random() * targets.length)];
    if (target === undefined) return false;
    process.kill(target, signal);
    return true;
  },
});

const document = (
  name: string,
  hits: Kind['name'],
  path: string,
  file: string,
  content: (mark: string) => string,
): Fault => ({
  name,
  hits,
  async strike(service, mark) {
    void send(service.url, path, [['files', file, Buffer.from(content(mark))]], { id: `hostile-${mark}` });
    return true;
  },
});

const leaving = (name: string, hits: Kind['name'], path: string, file: string, afterMs: number): Fault => ({
  name,
  hits,
  async strike(service, mark) {
    const parts = [
      ['files', file, Buffer.from(`<p>${mark}`)],
      ['waitDelay', '2s'],
    ] as const;
    void send(service.url, path, parts, { id: `leaving-${mark}`, leaveAfterMs: afterMs });
    return true;
  },
});

const HTML = '/forms/chromium/convert/html';
const OFFICE = '/forms/libreoffice/convert';

export const FAULTS: readonly Fault[] = [
  signalTo('browser killed', 'html', /headless-shell.*--remote-debugging-pipe/, 'SIGKILL'),
  signalTo('browser stopped', 'html', /headless-shell.*--remote-debugging-pipe/, 'SIGSTOP'),
  signalTo('renderer killed', 'html', /headless-shell.*--type=renderer/, 'SIGKILL'),
  signalTo('soffice killed', 'office', /soffice\.bin -env/, 'SIGKILL'),
  signalTo('soffice stopped', 'office', /soffice\.bin -env/, 'SIGSTOP'),
  signalTo('bridge killed', 'office', /bridge\.py/, 'SIGKILL'),
  signalTo('PDF worker killed', 'merge', /worker\.py/, 'SIGKILL'),
  signalTo('PDF worker stopped', 'merge', /worker\.py/, 'SIGSTOP'),
  document('page that hangs', 'html', HTML, 'index.html', mark => `<script>while (true) {} // ${mark}</script>`),
  document('noise named .docx', 'office', OFFICE, 'noise.docx', mark => `PK\u0003\u0004${mark.repeat(50)}`),
  document('a PDF that is none', 'merge', '/forms/pdfengines/merge', 'no.pdf', mark => mark),
  leaving('client leaves at once', 'html', HTML, 'index.html', 1),
  leaving('client leaves a conversion', 'html', HTML, 'index.html', 400),
  leaving('client leaves a document', 'office', OFFICE, 'a.txt', 60),
];

/** The leader of its process group: the program that the service itself started. */
function groupOf(pid: number): number {
  const stat = readText(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

export function commandOf(pid: number): string {
  return readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // it has ended meanwhile
  }
}

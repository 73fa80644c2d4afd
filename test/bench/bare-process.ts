import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { within } from '../helpers/within.ts';
import type { Seen } from './loop.ts';
import type { Contender } from './measure.ts';
import type { Work } from './work.ts';

export type BareOrder = { do: 'once' } | { do: 'loop'; ms: number } | { do: 'stop' };
export type BareAnswer = { ready: true } | { pdf: string } | { seen: Seen };

/** The bare engine of a kind of work, in a process of its own, so that its CPU time can be told from everybody else's. */
export class BareProcess implements Contender, AsyncDisposable {
  readonly name = 'bare';
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts it and waits until its engines are ready. */
  static async start(work: Work, clients: number): Promise<BareProcess> {
    const bare = new BareProcess(fork(new URL('bare.ts', import.meta.url).pathname, [work.id, String(clients)]));
    await bare.#answer(30_000);
    return bare;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async once(): Promise<Uint8Array> {
    this.#order({ do: 'once' });
    const answer = await this.#answer(60_000);
    return 'pdf' in answer ? Buffer.from(answer.pdf, 'base64') : new Uint8Array();
  }

  async run(ms: number): Promise<Seen> {
    this.#order({ do: 'loop', ms });
    const answer = await this.#answer(ms + 60_000);
    return 'seen' in answer ? answer.seen : { times: [], seconds: 0, faults: ['no answer'] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#order({ do: 'stop' });
    await within(30_000, 'the bare engine to end', ended).catch(() => this.#child.kill('SIGKILL'));
  }

  #order(order: BareOrder): void {
    this.#child.send(order);
  }

  async #answer(ms: number): Promise<BareAnswer> {
    const over = new AbortController();
    const { signal } = over;
    const ended = once(this.#child, 'exit', { signal }).then(() => Promise.reject(new Error('the bare engine died')));
    ended.catch(() => {});
    try {
      const message = once(this.#child, 'message', { signal });
      const [answer] = await within(ms, 'an answer of the bare engine', Promise.race([message, ended]));
      return answer as BareAnswer;
    } finally {
      over.abort();
    }
  }
}

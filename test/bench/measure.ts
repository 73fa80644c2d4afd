import { costsOf, memoryOf } from './costs.ts';
import type { Seen } from './loop.ts';

/** Something that can be kept busy for a while, and the process that it costs. */
export interface Contender {
  readonly name: string;
  readonly pid: number;
  /** One piece of work, its PDF. */
  once(): Promise<Uint8Array>;
  /** As much work as it does in so many ms. */
  run(ms: number): Promise<Seen>;
}

export interface Figures {
  readonly name: string;
  readonly count: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  /** CPU ms per conversion of the process that drives the engines. */
  readonly ownMs: number;
  /** CPU ms per conversion of the engines. */
  readonly enginesMs: number;
  /** Bytes, of all of them together, at the worst moment seen. */
  readonly memory: number;
  readonly faults: readonly string[];
}

/** One kind of work cut into slices: how many rounds, and ms of each slice. */
export interface Plan {
  readonly rounds: number;
  readonly sliceMs: number;
}

/**
 * Measures some contenders in turns, A B A B, so that a machine that gets slower gets slower for all of them.
 * @returns figures in the order of the contenders
 */
export async function inTurns(contenders: readonly Contender[], plan: Plan): Promise<Figures[]> {
  const tallies = contenders.map(contender => new Tally(contender));
  for (let round = 0; round < plan.rounds; round += 1) {
    // Every other round the other way round, so that nobody always comes after the same one.
    for (const tally of round % 2 === 0 ? tallies : tallies.toReversed()) await tally.slice(plan.sliceMs);
  }
  return tallies.map(tally => tally.figures());
}

class Tally {
  readonly #contender: Contender;
  readonly #times: number[] = [];
  readonly #faults: string[] = [];
  #seconds = 0;
  #ownMs = 0;
  #enginesMs = 0;
  #memory = 0;

  constructor(contender: Contender) {
    this.#contender = contender;
  }

  async slice(ms: number): Promise<void> {
    const { pid } = this.#contender;
    const before = costsOf(pid);
    const seen = await this.#contender.run(ms);
    const after = costsOf(pid);
    this.#times.push(...seen.times);
    this.#faults.push(...seen.faults);
    this.#seconds += seen.seconds;
    this.#ownMs += after.ownMs - before.ownMs;
    this.#enginesMs += after.enginesMs - before.enginesMs;
    this.#memory = Math.max(this.#memory, memoryOf(pid));
  }

  figures(): Figures {
    const sorted = this.#times.toSorted((a, b) => a - b);
    const count = sorted.length;
    const at = (share: number) => sorted[Math.min(count - 1, Math.floor(count * share))] ?? Number.NaN;
    return {
      name: this.#contender.name,
      count,
      perSecond: count / this.#seconds,
      p50: at(0.5),
      p95: at(0.95),
      ownMs: this.#ownMs / count,
      enginesMs: this.#enginesMs / count,
      memory: this.#memory,
      faults: this.#faults,
    };
  }
}

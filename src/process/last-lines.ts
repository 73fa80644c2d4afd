/** The last lines that a program wrote, kept for its error: bounded in number and in length. */
export class LastLines {
  readonly #lines: string[] = [];
  readonly #most: number;
  #partial = '';

  constructor(most = 30) {
    this.#most = most;
  }

  /** Takes a piece of output as it came; a line may be split over pieces. */
  push(piece: string): void {
    const lines = (this.#partial + piece).split('\n');
    this.#partial = (lines.pop() ?? '').slice(-MAX_LINE);
    this.#lines.push(...lines.filter(line => line.trim() !== '').map(line => line.slice(0, MAX_LINE)));
    this.#lines.splice(0, Math.max(0, this.#lines.length - this.#most));
  }

  toArray(): string[] {
    const unfinished = this.#partial.trim() === '' ? [] : [this.#partial];
    return [...this.#lines, ...unfinished].slice(-this.#most);
  }
}

const MAX_LINE = 2000;

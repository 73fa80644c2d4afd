/** One step that is under way: a line that is written over on a terminal, a few lines elsewhere. */
export class Progress {
  #title;
  #startedAt = performance.now();
  #last = '';

  /** @param {string} title */
  constructor(title) {
    this.#title = title;
    process.stdout.write(process.stdout.isTTY ? `${title} …` : `${title} …\n`);
  }

  /**
   * Tells how far it is; the same text twice is told once.
   * @param {string} text
   */
  now(text) {
    if (text === this.#last) return;
    this.#last = text;
    process.stdout.write(process.stdout.isTTY ? `\r\x1b[K${this.#title}: ${text}` : `  ${text}\n`);
  }

  /** @param {'done' | 'failed'} how */
  end(how) {
    const text = `${how} after ${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s`;
    process.stdout.write(process.stdout.isTTY ? `\r\x1b[K${this.#title}: ${text}\n` : `  ${text}\n`);
  }
}

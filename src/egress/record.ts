import type { Outcome } from './egress.ts';

/** A page can ask for any number of URLs of any length; what it is printed from is among the first. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
const MOST_ENTRIES = 10_000;

/** What became of each URL of a request, the latest fetch of it. */
export class OutcomeRecord {
  readonly #outcomes = new Map<string, Outcome>();
  #characters = 0;

  get(url: string): Outcome | undefined {
    const parsed = URL.parse(url);
    return parsed ? this.#outcomes.get(keyOf(parsed)) : undefined;
  }

  set(url: URL, outcome: Outcome): void {
    const key = keyOf(url);
    if (!this.#outcomes.has(key)) {
      if (this.#outcomes.size >= MOST_ENTRIES || this.#characters + key.length > MOST_CHARACTERS) return;
      this.#characters += key.length;
    }
    this.#outcomes.set(key, outcome);
  }
}

/** The URL as a server sees it; of what goes through a tunnel, only where the tunnel leads. */
function keyOf(url: URL): string {
  if (url.protocol !== 'http:') return `${url.hostname}:${url.port || (url.protocol === 'ws:' ? '80' : '443')}`;
  return `http://${url.host}${url.pathname}${url.search}`;
}

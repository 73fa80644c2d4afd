import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Failure } from '../failure/failure.ts';
import { failureFrom } from '../failure/from-error.ts';
import type { RunTrace } from '../supervise/types.ts';
import type { Clock } from '../time/clock.ts';
import { failureAnswer, type ShortAnswer } from './failure-answer.ts';

/** How much of a body that nobody wants is read, and for how long, so that its client hears the answer. */
const LINGER_BYTES = 64 * 1024 * 1024;
const LINGER_MS = 5_000;

/** One request and its answer, from the headers to the last byte. */
export class Exchange {
  readonly id: string;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** When its headers came, on the clock, in ms. */
  readonly arrived: number;
  /** Settles when its connection has nothing more to say. */
  readonly closed: Promise<void>;
  /** Why it was not answered as asked. */
  failure: Failure | undefined;
  /** The declared path of the route that answers it. */
  route: string | undefined;
  /** What its engines did. */
  readonly traces: RunTrace[] = [];
  readonly #clock: Clock;
  #awaitsContinue: boolean;

  constructor(options: {
    id: string;
    incoming: IncomingMessage;
    outgoing: ServerResponse;
    clock: Clock;
    /** The client holds its body back until it hears that it is wanted. */
    awaitsContinue: boolean;
  }) {
    this.id = options.id;
    this.incoming = options.incoming;
    this.outgoing = options.outgoing;
    this.arrived = options.clock.now();
    this.#clock = options.clock;
    this.#awaitsContinue = options.awaitsContinue;
    // One listener for all who wait: Node warns of a leak where there are many.
    this.closed = new Promise(resolve => this.outgoing.once('close', resolve));
    this.outgoing.on('error', () => {}); // a connection that broke: `close` follows
  }

  /** The body is wanted: has the client send it. */
  askForBody(): void {
    if (this.#awaitsContinue) this.outgoing.writeContinue();
    this.#awaitsContinue = false;
  }

  /** Notes why it will not be answered as asked; the first reason counts. */
  blame(error: unknown): Failure {
    this.failure ??= failureFrom(error);
    return this.failure;
  }

  /** Answers with what an error means to the client; with the end of the connection where it can't be told any more. */
  async fail(error: unknown): Promise<void> {
    const failure = this.blame(error);
    if (this.outgoing.headersSent || this.outgoing.destroyed || failure.code === 'CLIENT_GONE') {
      this.outgoing.destroy();
      return;
    }
    await this.end(failureAnswer(failure, { accept: this.incoming.headers.accept, id: this.id }));
  }

  /**
   * Sends a short answer. If the body is still on its way, it is read on and thrown away for a while: a connection that is
   * closed with unread data is reset, and the client would lose the answer.
   */
  async end({ status, headers, body }: ShortAnswer): Promise<void> {
    const { incoming, outgoing } = this;
    if (this.#awaitsContinue) outgoing.setHeader('Connection', 'close');
    outgoing.writeHead(status, { ...headers, ...(status !== 204 && { 'Content-Length': Buffer.byteLength(body) }) });
    if (incoming.complete || this.#awaitsContinue) {
      outgoing.end(body);
      return;
    }
    outgoing.write(body);
    await this.#linger();
    outgoing.end();
    if (!incoming.complete) incoming.socket.destroySoon();
  }

  #linger(): Promise<void> {
    const { incoming } = this;
    return new Promise(resolve => {
      let bytes = 0;
      const count = (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > LINGER_BYTES) stop();
      };
      // Whoever read the body before may only now let go of it, which pauses it.
      const goOn = () => incoming.resume();
      const stop = () => {
        cancel();
        incoming.off('data', count).off('end', stop).off('close', stop).off('pause', goOn);
        resolve();
      };
      const cancel = this.#clock.after(LINGER_MS, stop);
      incoming.on('data', count).on('pause', goOn).once('end', stop).once('close', stop);
      if (incoming.destroyed) stop();
      else incoming.resume();
    });
  }
}

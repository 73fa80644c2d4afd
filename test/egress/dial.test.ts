import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dial } from '../../src/egress/dial.ts';
import { systemClock } from '../../src/time/clock.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { within } from '../helpers/within.ts';

/** Listens, but never accepts: once its queue is full, Linux leaves whoever connects without an answer. */
const SILENT = '127.0.0.9';
const NEVER_ACCEPTS = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ host: workerData.host, port: 0, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });`;

const { signal } = new AbortController();

describe('dialling', () => {
  let port: number;
  const undo = new AsyncDisposableStack();

  beforeAll(async () => {
    const worker = new Worker(NEVER_ACCEPTS, { eval: true, workerData: { host: SILENT } });
    undo.defer(async () => void (await worker.terminate()));
    [port] = await within(5000, 'the silent server', once(worker, 'message'));
    for (let waiting = 0; waiting < 8; waiting += 1) {
      const filler = connect(port, SILENT).on('error', () => {});
      undo.defer(() => void filler.destroy());
    }
    const server = createServer(socket => socket.on('error', () => {}).end('hello')).listen(port, '127.0.0.1');
    undo.defer(() => void server.close());
    await within(2000, 'a server', once(server, 'listening'));
    expect((server.address() as AddressInfo).port).toBe(port);
  });
  afterAll(() => undo.disposeAsync());

  test('reaches the first address that answers', async () => {
    const socket = await within(2000, 'a connection', dial(['127.0.0.1', '::1'], port, systemClock, signal));
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
  });

  test('goes on at once where an address refuses', async () => {
    const clock = new FakeClock();
    const socket = await within(2000, 'a connection', dial(['127.0.0.8', '127.0.0.1'], port, clock, signal));
    expect(socket.remoteAddress).toBe('127.0.0.1');
    expect(clock.waiting).toBe(0);
    socket.destroy();
  });

  test('goes on soon where an address is silent', async () => {
    const clock = new FakeClock();
    const dialled = dial([SILENT, '127.0.0.1'], port, clock, signal);
    await clock.advance(249);
    expect(clock.waiting).toBe(2);
    await clock.advance(1);
    const socket = await within(2000, 'a connection', dialled);
    expect(socket.remoteAddress).toBe('127.0.0.1');
    expect(clock.waiting).toBe(0);
    socket.destroy();
  });

  test('says why when all refuse', async () => {
    const clock = new FakeClock();
    const dialled = dial(['127.0.0.7', '127.0.0.8'], port, clock, signal);
    await expect(within(2000, 'the refusal', dialled)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(clock.waiting).toBe(0);
  });

  test('gives up in time where nobody answers', async () => {
    const clock = new FakeClock();
    const dialled = dial([SILENT], port, clock, signal).catch(error => error);
    await clock.advance(9_999);
    expect(clock.waiting).toBe(1);
    await clock.advance(1);
    expect(await within(2000, 'the end', dialled)).toMatchObject({ code: 'ETIMEDOUT' });
    expect(clock.waiting).toBe(0);
  });

  test('ends with its request', async () => {
    const over = new AbortController();
    const clock = new FakeClock();
    const dialled = dial([SILENT, '127.0.0.1'], port, clock, over.signal);
    over.abort(new Error('over'));
    await expect(within(2000, 'the end', dialled)).rejects.toThrow('over');
    await expect(dial(['127.0.0.1'], port, clock, over.signal)).rejects.toThrow('over');
    expect(clock.waiting).toBe(0);
  });
});

import { readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { within } from '../helpers/within.ts';
import { conversion } from './fake-routes.ts';
import { Kernel, textOf } from './kernel.ts';

const MIB = 1024 * 1024;

test('uploading 300 MB through one connection, then 5 at once, leaves the memory of the service flat', async () => {
  let sizes: number[] = [];
  const route = conversion(async (_request, files) => {
    sizes = await Promise.all(files.map(async ({ file }) => (await stat(file)).size));
    return files.slice(0, 1).map(({ file }) => ({ file: '/proc/version', name: file }));
  });
  await using kernel = await Kernel.start([route], { timeout: 120_000 });
  await upload(kernel.port, 20 * MIB); // what is needed once
  const before = await resident();
  let peak = before;
  const watch = setInterval(
    () =>
      void resident().then(now => {
        peak = Math.max(peak, now);
      }),
    20,
  );
  try {
    expect(await upload(kernel.port, 300 * MIB)).toMatch(/^HTTP\/1.1 200/);
    expect(sizes).toEqual([300 * MIB]);
    await Promise.all(Array.from({ length: 5 }, () => upload(kernel.port, 40 * MIB)));
  } finally {
    clearInterval(watch);
  }
  expect((peak - before) / MIB).toBeLessThan(60);
  expect(await kernel.leftovers()).toEqual([]);
}, 120_000);

/** Sends a file of zeros from one buffer, as fast as it is taken. */
async function upload(port: number, bytes: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const answer = textOf(socket);
  const start = '--b\r\nContent-Disposition: form-data; name="files"; filename="a.bin"\r\n\r\n';
  const end = '\r\n--b--\r\n';
  const length = start.length + bytes + end.length;
  socket.write(
    `POST /forms/test HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n${start}`,
  );
  const piece = Buffer.alloc(MIB / 4);
  for (let sent = 0; sent < bytes; sent += piece.length) {
    if (!socket.write(piece)) await new Promise(resolve => socket.once('drain', resolve));
  }
  socket.write(end);
  return within(60_000, 'the answer to an upload', answer);
}

/** Resident bytes of this process, in which both ends run. */
async function resident(): Promise<number> {
  const status = await readFile('/proc/self/status', 'latin1');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

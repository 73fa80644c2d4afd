import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { Service } from '../helpers/service.ts';
import { within } from '../helpers/within.ts';
import { textOf } from './kernel.ts';

const MIB = 1024 * 1024;

test('300 MB through one connection, then 20 clients at once, leave the memory of the service flat', async () => {
  await using service = await Service.start({ API_TIMEOUT: '2m' });
  const port = Number(new URL(service.url).port);
  const pid = service.process.pid ?? 0;
  await upload(port, MIB); // what is needed once
  const before = await resident(pid);
  let peak = before;
  let over = false;
  const watching = (async () => {
    while (!over) {
      peak = Math.max(peak, await resident(pid));
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  })();
  // Refused for want of a PDF, which is known only when all of it has come.
  expect(await upload(port, 300 * MIB)).toMatch(/^HTTP\/1.1 400[\s\S]*no form file found/);
  const answers = await Promise.all(Array.from({ length: 20 }, () => upload(port, 20 * MIB)));
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 400[\s\S]*no form file found/);
  over = true;
  await watching;
  expect((peak - before) / MIB).toBeLessThan(60);
}, 120_000);

/** Sends a file of zeros from one buffer, as fast as it is taken. */
async function upload(port: number, bytes: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const answer = textOf(socket);
  const start = '--b\r\nContent-Disposition: form-data; name="files"; filename="a.bin"\r\n\r\n';
  const end = '\r\n--b--\r\n';
  const head = [
    'POST /forms/pdfengines/merge HTTP/1.1',
    'Host: x',
    'Connection: close',
    'Content-Type: multipart/form-data; boundary=b',
    `Content-Length: ${start.length + bytes + end.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${start}`);
  const piece = Buffer.alloc(MIB / 4);
  for (let sent = 0; sent < bytes; sent += piece.length) {
    if (!socket.write(piece)) await new Promise(resolve => socket.once('drain', resolve));
  }
  socket.write(end);
  return within(60_000, 'the answer to an upload', answer);
}

/** Resident bytes of a process. */
async function resident(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

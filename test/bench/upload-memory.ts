import { request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Service } from '../helpers/service.ts';
import { forgetPeak, peakOf } from './costs.ts';
import { fixture, looksLikePdf } from './work.ts';

export interface UploadMemory {
  /** Bytes by which the service's own memory grew at its peak. */
  readonly grewBy: number;
  readonly faults: readonly string[];
}

/** Has clients upload a page with one big asset each, all at once, and looks at what the service itself holds meanwhile. */
export async function uploadMemory({
  clients,
  megabytes,
}: {
  clients: number;
  megabytes: number;
}): Promise<UploadMemory> {
  await using service = await Service.start({ API_TIMEOUT: '5m', CHROMIUM_AUTO_START: 'true' });
  const pid = service.process.pid ?? 0;
  const upload = () => post(`${service.url}/forms/chromium/convert/html`, megabytes);
  await upload(); // code is compiled and buffers are made by the first of them
  forgetPeak(pid);
  const before = peakOf(pid);
  const ends = await Promise.allSettled(Array.from({ length: clients }, upload));
  const faults = ends.flatMap(end => (end.status === 'rejected' ? [String(end.reason)] : []));
  return { grewBy: peakOf(pid) - before, faults };
}

const BOUNDARY = 'platen-bench';

function part(name: string): Buffer {
  return Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n`);
}

/** @throws Error where the answer is not a PDF */
async function post(url: string, megabytes: number): Promise<void> {
  const megabyte = Buffer.alloc(1_000_000, 'platen ');
  function* body() {
    yield Buffer.concat([part('index.html'), fixture('load/index.html'), Buffer.from('\r\n'), part('asset.bin')]);
    for (let sent = 0; sent < megabytes; sent += 1) yield megabyte;
    yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  }
  const headers = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };
  const sent = request(url, { method: 'POST', headers });
  const answered = new Promise<Buffer>((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', async answer => {
      const content = Buffer.concat(await answer.toArray());
      if (answer.statusCode === 200 && looksLikePdf(content)) resolve(content);
      else reject(new Error(`${answer.statusCode} ${content.toString('utf8').slice(0, 200)}`));
    });
  });
  await Promise.all([answered, pipeline(body(), sent)]);
}

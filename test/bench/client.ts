import { Agent, request } from 'node:http';
import { fixture, type Work } from './work.ts';

const BOUNDARY = 'platen-bench';
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** The form of a kind of work as bytes, made once: on the same cores, whatever the client does slows the service. */
export function formOf(work: Work): Buffer {
  const pieces = work.files.flatMap(([name, path]) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n`),
    fixture(path),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/**
 * Posts a form and reads the whole answer.
 * @throws Error with the status and the answer's text where it isn't 200
 */
export function post(url: string, body: Buffer): Promise<Buffer> {
  const headers = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`, 'Content-Length': body.length };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent }, answer => {
      const pieces: Buffer[] = [];
      answer.on('data', piece => pieces.push(piece));
      answer.once('error', reject);
      answer.once('end', () => {
        const content = Buffer.concat(pieces);
        if (answer.statusCode === 200) resolve(content);
        else reject(new Error(`${answer.statusCode} ${content.toString('utf8').slice(0, 200)}`));
      });
    });
    sent.setTimeout(60_000, () => sent.destroy(new Error('no answer for 60 s')));
    sent.once('error', reject);
    sent.end(body);
  });
}

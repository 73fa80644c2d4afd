import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Soffice } from '../../../modules/libreoffice/soffice.ts';
import { pictureSizes, textOf } from '../../helpers/pdf.ts';

/*
 * Documents that try to reach the network or the machine's files, in the ways that LibreOffice follows without a jail.
 * What they want is there: a listener on loopback, a file with a secret, a picture.
 */

const SECRET = 'canary-7f3a';
let folder: string;
let office: Soffice;
let listener: Server;
let connections = 0;
let port = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platen-hostile-'));
  await mkdir(join(folder, 'instance'), { mode: 0o700 });
  await writeFile(join(folder, 'secret.txt'), SECRET);
  await writeFile(join(folder, 'secret.fodt'), flat(`<text:p>${SECRET}</text:p>`));
  await writeFile(join(folder, 'secret.png'), PNG);
  listener = createServer(socket => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve));
  port = (listener.address() as { port: number }).port;
  office = new Soffice({
    soffice: '/usr/lib/libreoffice/program/soffice.bin',
    python: '/usr/bin/python3',
    memoryLimit: 0,
    folder: async () => join(folder, 'instance'),
  });
  await office.start(new AbortController().signal);
});
afterAll(async () => {
  await office.stop();
  listener.close();
  await rm(folder, { recursive: true, force: true });
});

const XLINK = 'xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"';
const WRITER = 'OpenDocument Text Flat XML';
const frame = (href: string) =>
  `<text:p>seen<draw:frame svg:width="2cm" svg:height="2cm"><draw:image xlink:href="${href}" ${XLINK}/></draw:frame></text:p>`;
const section = (href: string) =>
  `<text:section text:name="S"><text:section-source xlink:href="${href}" ${XLINK}/><text:p>seen</text:p></text:section>`;

const DOCUMENTS: readonly [
  what: string,
  name: string,
  filter: string,
  content: (at: { file: string; http: string }) => string,
][] = [
  ['a picture from the web', 'a.fodt', WRITER, ({ http }) => flat(frame(`${http}/a.png`))],
  ['a picture from the disk', 'b.fodt', WRITER, ({ file }) => flat(frame(`${file}/secret.png`))],
  ['a section from the web', 'c.fodt', WRITER, ({ http }) => flat(section(`${http}/a.odt`))],
  ['a section from the disk', 'd.fodt', WRITER, ({ file }) => flat(section(`${file}/secret.fodt`))],
  [
    'RTF that includes pictures',
    'e.rtf',
    'Rich Text Format',
    ({ file, http }) =>
      `{\\rtf1 seen {\\field{\\*\\fldinst INCLUDEPICTURE "${http}/x.png"}} {\\field{\\*\\fldinst INCLUDEPICTURE "${file}/secret.png"}} {\\field{\\*\\fldinst INCLUDETEXT "${file}/secret.txt"}}}`,
  ],
  [
    'HTML with styles, pictures and a frame',
    'f.html',
    'HTML (StarWriter)',
    ({ file, http }) =>
      `<link rel="stylesheet" href="${http}/s.css"><body background="${http}/bg.png">seen<img src="${http}/i.png"><img src="${file}/secret.png"><iframe src="${file}/secret.txt"></iframe>`,
  ],
  [
    'SVG with pictures',
    'g.svg',
    'SVG - Scalable Vector Graphics',
    ({ file, http }) =>
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="99"><text y="20">seen</text><image xlink:href="${file}/secret.png" width="9" height="9"/><image xlink:href="${http}/i.png" width="9" height="9"/></svg>`,
  ],
];

describe('a hostile document reaches nothing outside', () => {
  test.each(DOCUMENTS)('%s', async (_, name, filter, content) => {
    const input = join(folder, name);
    const output = join(folder, `${name}.pdf`);
    await writeFile(input, content({ file: `file://${folder}`, http: `http://127.0.0.1:${port}` }));
    const before = connections;
    // Whether such a document is refused or converted without what it wanted is no matter here.
    const converted = await office.convert({ file: input, name, output, filters: [filter] }).then(
      () => true,
      () => false,
    );
    expect(office.healthy).toBe(true);
    expect(connections).toBe(before);
    if (!converted) return;
    expect(await textOf(output)).not.toContain(SECRET);
    expect(await pictureSizes(output)).not.toContain('4x4');
  });

  test('a document without such wishes is converted with its own picture', async () => {
    const input = join(folder, 'own.fodt');
    const output = join(folder, 'own.pdf');
    const picture = `<draw:image><office:binary-data>${PNG.toString('base64')}</office:binary-data></draw:image>`;
    await writeFile(
      input,
      flat(`<text:p>seen<draw:frame svg:width="2cm" svg:height="2cm">${picture}</draw:frame></text:p>`),
    );
    await office.convert({ file: input, name: 'own.fodt', output, filters: [WRITER] });
    expect(await textOf(output)).toContain('seen');
    expect(await pictureSizes(output)).toContain('4x4');
  });
});

function flat(body: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
  xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
  xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text">
  <office:body><office:text>${body}</office:text></office:body></office:document>`;
}

/** 4 × 4 pixels, red: a size that no picture of LibreOffice's own has, such as its sign for a missing one. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAEElEQVR42mP8z4AATAxEcQAz0QEHOoQ+uAAAAABJRU5ErkJggg==',
  'base64',
);

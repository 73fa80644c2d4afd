import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Soffice } from '../../../modules/libreoffice/soffice.ts';
import { processContract } from '../../contract/process.ts';

processContract('libreoffice', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'platen-office-test-'));
  const memo = join(import.meta.dirname, '../../../fixtures/office/memo.fodt');
  const maze = join(folder, 'maze.fodt');
  await writeFile(maze, nestedTables(14));
  let instances = 0;
  let results = 0;
  const convert = (office: Soffice, file: string) =>
    office.convert({
      file,
      name: 'document.fodt',
      output: join(folder, `${++results}.pdf`),
      filters: ['OpenDocument Text Flat XML'],
    });
  return {
    create: () =>
      new Soffice({
        soffice: '/usr/lib/libreoffice/program/soffice.bin',
        python: '/usr/bin/python3',
        memoryLimit: 0,
        async folder() {
          const own = join(folder, `instance-${++instances}`);
          await mkdir(own, { mode: 0o700 });
          return own;
        },
      }),
    leftovers: async () => (await readdir(folder)).filter(name => name.startsWith('instance-')),
    work: office => convert(office, memo),
    endless: office => convert(office, maze),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});

/** Two tables in each cell of a table, so many deep: a small file that keeps LibreOffice busy for minutes. */
function nestedTables(depth: number): string {
  const cell = (inner: string) => `<table:table-cell>${inner}</table:table-cell>`;
  let table = '<text:p>x</text:p>';
  for (let level = 0; level < depth; level += 1) {
    table = `<table:table><table:table-column table:number-columns-repeated="2"/><table:table-row>${cell(table)}${cell(table)}</table:table-row></table:table>`;
  }
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
  xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
  office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
  <office:body><office:text>${table}</office:text></office:body>
</office:document>`;
}
